package reach

import "testing"

// TestShortCalls: whatever the table of short calls leads to keeps to their rules, or the error says
// what does not, and how it is reached.
func TestShortCalls(t *testing.T) {
	const sse, asks = "\x0f\x57\xc0" + ret, "\xff\xd0" + ret // XORPS X0, X0; CALL AX
	for _, c := range []struct{ name, code, says string }{
		{"x.plain", ret, ""},
		{"x.floats", sse, "syscall.Short -> syscall.answer -> syscall.getpid -> x.floats+0x0 may write SSE registers"},
		{"x.asks", asks, "x.asks makes calls with unknown targets"},
		{"runtime.mallocgc", ret, "syscall.getpid -> runtime.mallocgc allocates memory"},
		{"sync.(*Mutex).Lock", ret, "takes a lock"},
		{"runtime.morestack_noctxt", ret, "grows the stack or panics"},
		{"runtime.panicBounds", ret, "grows the stack or panics"},
		{"x.deep", "\x48\x81\xec\x00\x04\x00\x00" + ret, "bytes of stack, not 256 at most: syscall.Short -> syscall.answer -> syscall.getpid -> x.deep"},
		{"x.lost", "\xe8\x00\x00\x01\x00" + ret, "calls code that has no symbol"},
	} {
		f := &fake{}
		f.add(shortCall, f.call(0, 1)+ret)
		f.add(shortCaller, asks)
		f.add("sonde/linux/syscall.getpid", f.call(0, 3)+ret)
		f.add(c.name, c.code)
		f.add(shortTable, "") // in the table of symbols it is data
		g := f.graph(t)
		table, value := f.addr(4), uint64(0x9000)
		data := map[uint64]uint64{table: 0, table + 8: value, value: f.addr(2)}
		g.Word = func(addr uint64) (uint64, bool) { w, ok := data[addr]; return w, ok }
		err := g.verifyShort()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if g.Word = nil; g.verifyShort() == nil {
			t.Errorf("%s: nobody has looked into the table", c.name)
		}
	}
	none := &fake{}
	none.add("x.plain", ret)
	if err := none.graph(t).verifyShort(); err != nil {
		t.Errorf("an image without programs: %v", err)
	}
}
