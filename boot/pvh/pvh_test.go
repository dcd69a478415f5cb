package pvh

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/phys"
	"sonde/boot/handoff"
)

func span(pa, n uint64) handoff.Span { return handoff.Span{PA: pa, Len: n} }

var le = binary.LittleEndian

type entry struct {
	addr, size uint64
	typ        handoff.Type
}

// build lays out a start info at 0x100, its map at 0x200, modules at 0x5000
// and the command line at 0x6000.
func build(version uint32, cmdline string, mods []handoff.Span, m []entry) []byte {
	b := make([]byte, 0x8000)
	h := b[0x100:]
	le.PutUint32(h, Magic)
	le.PutUint32(h[4:], version)
	le.PutUint32(h[12:], uint32(len(mods)))
	le.PutUint64(h[16:], 0x5000)
	le.PutUint64(h[24:], 0x6000)
	le.PutUint64(h[32:], 0xf59e0)
	le.PutUint64(h[40:], 0x200)
	le.PutUint32(h[48:], uint32(len(m)))
	for i, e := range m {
		p := b[0x200+24*i:]
		le.PutUint64(p, e.addr)
		le.PutUint64(p[8:], e.size)
		le.PutUint32(p[16:], uint32(e.typ))
	}
	for i, s := range mods {
		le.PutUint64(b[0x5000+32*i:], s.PA)
		le.PutUint64(b[0x5000+32*i+8:], s.Len)
	}
	copy(b[0x6000:], cmdline)
	return b
}

func parse(t *testing.T, b []byte) *handoff.Info {
	t.Helper()
	out := new(handoff.Info)
	if c := Parse(phys.Over(b), 0x100, out); c != OK {
		t.Fatal(c)
	}
	return out
}

func TestParseReadsTheHead(t *testing.T) {
	b := build(1, "quiet -- ls", []handoff.Span{span(0x700000, 99)}, nil)
	i := parse(t, b)
	if i.RSDP != 0xf59e0 || i.Cmdline != span(0x6000, 11) || i.NModules != 1 ||
		i.Modules[0] != span(0x700000, 99) || i.Truncated {
		t.Fatalf("%+v", i)
	}
}

func TestMapIsTheTable(t *testing.T) {
	i := parse(t, build(1, "", nil, []entry{{0, 0x9fc00, handoff.RAM}, {0x9fc00, 0x400, handoff.Reserved},
		{0xf0000, 0x10000, handoff.Reserved}, {0x100000, 0x7ee0000, handoff.RAM}}))
	want := []handoff.Region{{Span: span(0, 0x9f000), Type: handoff.RAM}, {Span: span(0x9fc00, 0x400), Type: handoff.Reserved},
		{Span: span(0xf0000, 0x10000), Type: handoff.Reserved}, {Span: span(0x100000, 0x7ee0000), Type: handoff.RAM}}
	if !slices.Equal(i.Map[:i.NMap], want) {
		t.Fatalf("got %x, want %x", i.Map[:i.NMap], want)
	}
}

func TestParseRefuses(t *testing.T) {
	good := func() []byte { return build(1, "", nil, []entry{{0, 0x1000, handoff.RAM}}) }
	for _, c := range []struct {
		name string
		edit func([]byte) []byte
		pa   uint64
		want Code
	}{
		{"magic", func(b []byte) []byte { b[0x100]++; return b }, 0x100, BadMagic},
		{"outside", func(b []byte) []byte { return b }, 1 << 40, BadAddress},
		{"wrapping", func(b []byte) []byte { return b }, ^uint64(3), BadAddress},
		{"cut after version 0", func(b []byte) []byte { return b[:0x130] }, 0x100, BadAddress},
		{"map outside", func(b []byte) []byte { le.PutUint64(b[0x128:], 1<<50); return b }, 0x100, BadMap},
		{"map wraps", func(b []byte) []byte { le.PutUint64(b[0x128:], ^uint64(7)); return b }, 0x100, BadMap},
		{"endless map", func(b []byte) []byte { le.PutUint32(b[0x130:], 1<<31); return b }, 0x100, TooManyEntries},
	} {
		var out handoff.Info
		if got := Parse(phys.Over(c.edit(good())), c.pa, &out); got != c.want || out.NMap != 0 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestVersion0HasNoMap(t *testing.T) {
	if i := parse(t, build(0, "x", nil, []entry{{0, 0x1000, handoff.RAM}})); i.NMap != 0 || i.Cmdline.Len != 1 {
		t.Fatalf("%+v", i)
	}
}

func TestWhatDoesNotFitIsMarked(t *testing.T) {
	var many []entry
	for k := uint64(0); k < handoff.MaxRegions+3; k++ {
		many = append(many, entry{k * 0x2000, 0x1000, handoff.RAM})
	}
	if i := parse(t, build(1, "", nil, many)); !i.Truncated || i.NMap != handoff.MaxRegions {
		t.Error("map")
	}
	if i := parse(t, build(1, strings.Repeat("a", handoff.MaxCmdline), nil, nil)); !i.Truncated || i.Cmdline.Len != handoff.MaxCmdline {
		t.Error("command line")
	}
	if i := parse(t, build(1, "", make([]handoff.Span, handoff.MaxModules+1), nil)); !i.Truncated || i.NModules != handoff.MaxModules {
		t.Error("modules")
	}
	b := build(1, "", nil, nil)
	le.PutUint64(b[0x118:], 1<<45)
	if i := parse(t, b); i.Cmdline.Len != 0 {
		t.Error("command line outside memory")
	}
	b = build(1, "", nil, nil)
	le.PutUint64(b[0x118:], uint64(len(b)-2))
	b[len(b)-2], b[len(b)-1] = 'a', 'b'
	if i := parse(t, b); i.Cmdline.Len != 2 {
		t.Error("command line cut off by the end of memory")
	}
}

func TestNoAllocation(t *testing.T) {
	mem := phys.Over(build(1, "quiet", nil, []entry{{0, 0x10000, handoff.RAM}, {0x1000, 1, handoff.Reserved}}))
	var out handoff.Info
	if n := testing.AllocsPerRun(100, func() { Parse(mem, 0x100, &out) }); n != 0 {
		t.Fatal(n)
	}
}
