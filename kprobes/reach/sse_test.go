package reach

import (
	"fmt"
	"testing"

	"sonde/arch/amd64/insn"
)

func TestHandlersThatKeepSSE(t *testing.T) {
	const addsd = "\xf2\x0f\x58\xc1" // ADDSD X1, X0
	f := &fake{}
	f.add("x.good", f.call(0, 1)+f.jmp(5, 2))
	f.add("x.counts", "\x48\xff\x00"+f.call(3, 2)+"\x45\x0f\x57\xff"+ret) // INCQ (AX); XORPS X15, X15
	f.add("runtime.panicBounds", addsd+ret)
	f.add("x.bad", f.call(0, 4)+ret)
	f.add("x.adds", nop+addsd+ret)
	f.add("x.asks", "\xff\xd0"+ret)
	f.add("x.switches", "\xff\x24\xc8")
	f.add("x.broken", "\x06")
	f.add("x.lost", "\xe8\x00\x00\x01\x00"+ret)
	g := f.graph(t)
	for i, want := range map[int]string{
		0: "", 1: "", 3: "x.bad -> x.adds+0x1 may write SSE registers", 4: "x.adds+0x1 may write",
		5: "x.asks makes calls with unknown targets", 6: "x.switches makes calls with unknown targets",
		7: "x.broken: " + insn.ErrInvalid.Error(), 8: "x.lost calls code that has no symbol",
	} {
		err := g.KeepsSSE(f.addr(i))
		if want == "" && err != nil || want != "" && (err == nil || !contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", f.names[i], err, want)
		}
	}
	if g.KeepsSSE(1) == nil {
		t.Error("what is no function keeps SSE registers")
	}
}

// TestHitsAreFollowedThroughListedCalls: rules.go says what OriginalIP calls.
func TestHitsAreFollowedThroughListedCalls(t *testing.T) {
	for last, says := range map[string]string{
		ret:                          "",
		"\x0f\x57\xc0" + ret:         "kprobes.onBreakpoint -> kprobes.OriginalIP -> optprobe.(*plan).original+0x0 may write SSE registers",
		"\xe8\x00\x00\x01\x00" + ret: "calls code that has no symbol",
	} {
		f := &fake{}
		f.add("sonde/kprobes.onBreakpoint", f.call(0, 4)+f.call(5, 6)+"\xff\xd0"+ret)
		f.add("sonde/kprobes.onStep", ret)
		f.add("sonde/kprobes.onReturn", ret)
		f.add("sonde/kprobes.onDetour", ret)
		f.add("sonde/kprobes.OriginalIP", "\xff\xd0"+ret)
		f.add("sonde/optprobe.(*plan).original", last)
		f.add("sonde/kernel/die.Breakpoint", "\x0f\x57\xc0"+ret) // saves them itself
		f.add("sonde/kprobes.onNote", ret)
		f.add("sonde/arch/amd64/trap.takeBreakpoint", ret)
		f.add("sonde/arch/amd64/trap.takeDebug", ret)
		f.add("sonde/probe/program.helpTime", ret)
		f.add("sonde/kprobes.callOthers", ret)
		err := f.graph(t).HitKeepsSSE()
		if says == "" && err != nil || says != "" && (err == nil || !contains(err.Error(), says)) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	f := &fake{}
	f.add("sonde/kprobes.onBreakpoint", ret)
	if err := f.graph(t).HitKeepsSSE(); err == nil || !contains(err.Error(), "onStep") {
		t.Errorf("%v, want that there is no onStep", err)
	}
}

func TestProofEnds(t *testing.T) {
	f := &fake{}
	for i := range maxCalls + 5 {
		f.add(fmt.Sprint("x.f", i), f.call(0, i+1)+ret)
	}
	f.add("x.last", ret)
	g := f.graph(t)
	if err := g.KeepsSSE(f.addr(0)); err == nil || !contains(err.Error(), "x.f0 calls too many functions") {
		t.Error(err)
	}
	if err := g.KeepsSSE(f.addr(10)); err != nil {
		t.Error(err)
	}
}

func TestInstructionsThatMayWriteXMM(t *testing.T) {
	for _, c := range []struct {
		what, code string
		want       bool
	}{
		{"MOVQ", "\x48\x89\xc8", false}, {"CMOVQ", "\x48\x0f\x44\xc1", false}, {"MOVZX", "\x0f\xb6\xc0", false},
		{"LOCK CMPXCHG", "\xf0\x0f\xb1\x11", false}, {"MFENCE", "\x0f\xae\xf0", false}, {"BSWAP", "\x0f\xc8", false},
		{"MOVUPS X0, (AX)", "\x0f\x11\x00", false}, {"MOVUPS (AX), X0", "\x0f\x10\x00", true}, {"MOVUPS X0, X1", "\x0f\x11\xc1", true},
		{"XORPS X15, X15", "\x45\x0f\x57\xff", false}, {"XORPS X0, X0", "\x0f\x57\xc0", true},
		{"FXRSTOR", "\x0f\xae\x08", true}, {"FLD1", "\xd9\xe8", true}, {"PSHUFB", "\x66\x0f\x38\x00\xc1", true},
		{"VZEROUPPER", "\xc5\xf8\x77", true}, {"POPCNT", "\xf3\x48\x0f\xb8\xc1", false},
		{"MOVQ DR6, AX", "\x0f\x21\xf0", false}, {"MOVQ AX, DR7", "\x0f\x23\xf8", false},
	} {
		in, err := insn.Decode([]byte(c.code))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if mayWriteXMM(&in) != c.want {
			t.Errorf("%s: mayWriteXMM is not %v", c.what, c.want)
		}
	}
}
