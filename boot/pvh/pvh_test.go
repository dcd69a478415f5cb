package pvh

import (
	"encoding/binary"
	"math/rand"
	"strings"
	"testing"

	"sonde/arch/amd64/phys"
)

var le = binary.LittleEndian

type entry struct {
	addr, size uint64
	typ        Type
}

// build lays out a start info at 0x100, its map at 0x200, modules at 0x5000
// and the command line at 0x6000.
func build(version uint32, cmdline string, mods []Span, m []entry) []byte {
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

func parse(t *testing.T, b []byte) *Info {
	t.Helper()
	out := new(Info)
	if c := Parse(phys.Over(b), 0x100, out); c != OK {
		t.Fatal(c)
	}
	return out
}

func TestParseReadsTheHead(t *testing.T) {
	b := build(1, "quiet -- ls", []Span{{0x700000, 99}}, nil)
	i := parse(t, b)
	if i.RSDP != 0xf59e0 || i.Cmdline != (Span{0x6000, 11}) || i.NModules != 1 ||
		i.Modules[0] != (Span{0x700000, 99}) || i.Truncated {
		t.Fatalf("%+v", i)
	}
}

func TestMapIsSortedResolvedMergedAndAligned(t *testing.T) {
	const top = ^uint64(0)
	for _, c := range []struct {
		name string
		in   []entry
		want []Region
	}{
		{"as QEMU gives it", []entry{{0, 0x9fc00, RAM}, {0x9fc00, 0x400, Reserved},
			{0xf0000, 0x10000, Reserved}, {0x100000, 0x7ee0000, RAM}},
			[]Region{{Span{0, 0x9f000}, RAM}, {Span{0x9fc00, 0x400}, Reserved},
				{Span{0xf0000, 0x10000}, Reserved}, {Span{0x100000, 0x7ee0000}, RAM}}},
		{"out of order, adjacent, unaligned seam", []entry{{0x2800, 0x2800, RAM}, {0x1000, 0x1800, RAM}},
			[]Region{{Span{0x1000, 0x4000}, RAM}}},
		{"reserved cuts RAM in two", []entry{{0, 0x10000, RAM}, {0x4800, 0x800, Reserved}},
			[]Region{{Span{0, 0x4000}, RAM}, {Span{0x4800, 0x800}, Reserved}, {Span{0x5000, 0xb000}, RAM}}},
		{"RAM inside reserved is gone", []entry{{0x2000, 0x1000, RAM}, {0, 0x10000, Reserved}},
			[]Region{{Span{0, 0x10000}, Reserved}}},
		{"same twice", []entry{{0x1000, 0x1000, RAM}, {0x1000, 0x1000, RAM}},
			[]Region{{Span{0x1000, 0x1000}, RAM}}},
		{"reserved beats NVS beats ACPI beats RAM", []entry{{0, 0x8000, RAM}, {0x1000, 0x7000, ACPI},
			{0x2000, 0x6000, NVS}, {0x3000, 0x5000, Reserved}},
			[]Region{{Span{0, 0x1000}, RAM}, {Span{0x1000, 0x1000}, ACPI}, {Span{0x2000, 0x1000}, NVS},
				{Span{0x3000, 0x5000}, Reserved}}},
		{"unknown types are reserved and merge", []entry{{0x1000, 0x1000, 77}, {0x2000, 0x1000, 0}, {0x3000, 1, Reserved}},
			[]Region{{Span{0x1000, 0x2001}, Reserved}}},
		{"empty entries and slivers vanish", []entry{{0x1000, 0, RAM}, {0x1800, 0x100, RAM}, {0x2800, 0x1000, RAM}}, nil},
		{"end past 2^64 is clipped", []entry{{top - 0xfff, 0x5000, Reserved}, {top - 0x1fff, top, RAM}},
			[]Region{{Span{top - 0x1fff, 0x1000}, RAM}, {Span{top - 0xfff, 0xfff}, Reserved}}},
		{"RAM in the last page does not wrap", []entry{{top - 0x10, 0x11, RAM}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := parse(t, build(1, "", nil, c.in))
			if i.NMap != len(c.want) {
				t.Fatalf("got %x", i.Map[:i.NMap])
			}
			for k, w := range c.want {
				if i.Map[k] != w {
					t.Errorf("%d: got %x, want %x", k, i.Map[k], w)
				}
			}
		})
	}
}

// Every page of random maps is compared with the plain rule: RAM if all its
// bytes are claimed as RAM and by nothing else.
func TestMapAgreesWithThePlainRule(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 300 {
		var in []entry
		for range rnd.Intn(9) {
			in = append(in, entry{uint64(rnd.Intn(64)) * 0x800, uint64(rnd.Intn(24)) * 0x800, Type(rnd.Intn(9))})
		}
		i := parse(t, build(1, "", nil, in))
		is := func(pa uint64, want Type) bool {
			for _, r := range i.Map[:i.NMap] {
				if r.PA <= pa && pa < r.PA+r.Len {
					return r.Type == want
				}
			}
			return false
		}
		half := func(pa uint64) bool {
			ram := false
			for _, e := range in {
				if e.addr <= pa && pa < e.addr+e.size {
					if e.typ != RAM {
						return false
					}
					ram = true
				}
			}
			return ram
		}
		for pa := uint64(0); pa < 96*0x800; pa += 0x1000 {
			if want := half(pa) && half(pa+0x800); is(pa, RAM) != want {
				t.Fatalf("%#x: want RAM %v in %x -> %x", pa, want, in, i.Map[:i.NMap])
			}
		}
		for k := 1; k < i.NMap; k++ {
			if i.Map[k].PA < i.Map[k-1].PA+i.Map[k-1].Len {
				t.Fatalf("overlap or disorder: %x", i.Map[:i.NMap])
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := func() []byte { return build(1, "", nil, []entry{{0, 0x1000, RAM}}) }
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
		var out Info
		if got := Parse(phys.Over(c.edit(good())), c.pa, &out); got != c.want || out.NMap != 0 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestVersion0HasNoMap(t *testing.T) {
	if i := parse(t, build(0, "x", nil, []entry{{0, 0x1000, RAM}})); i.NMap != 0 || i.Cmdline.Len != 1 {
		t.Fatalf("%+v", i)
	}
}

func TestWhatDoesNotFitIsMarked(t *testing.T) {
	var many []entry
	for k := uint64(0); k < MaxRegions+3; k++ {
		many = append(many, entry{k * 0x2000, 0x1000, RAM})
	}
	if i := parse(t, build(1, "", nil, many)); !i.Truncated || i.NMap != MaxRegions {
		t.Error("map")
	}
	if i := parse(t, build(1, strings.Repeat("a", MaxCmdline), nil, nil)); !i.Truncated || i.Cmdline.Len != MaxCmdline {
		t.Error("command line")
	}
	if i := parse(t, build(1, "", make([]Span, MaxModules+1), nil)); !i.Truncated || i.NModules != MaxModules {
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
	mem := phys.Over(build(1, "quiet", nil, []entry{{0, 0x10000, RAM}, {0x1000, 1, Reserved}}))
	var out Info
	if n := testing.AllocsPerRun(100, func() { Parse(mem, 0x100, &out) }); n != 0 {
		t.Fatal(n)
	}
}
