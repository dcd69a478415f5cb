package handoff

import (
	"math/rand"
	"slices"
	"testing"
)

type entry struct {
	addr, size uint64
	typ        Type
}

// resolved is the Info whose Map was made from in.
func resolved(in []entry) *Info {
	out := new(Info)
	out.SetMap(uint64(len(in)), func(i uint64) Region {
		return Region{Span{in[i].addr, in[i].size}, in[i].typ}
	})
	return out
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
			i := resolved(c.in)
			if !slices.Equal(i.Map[:i.NMap], c.want) {
				t.Errorf("got %x, want %x", i.Map[:i.NMap], c.want)
			}
		})
	}
}

// Every page of random maps is compared with the rule itself: RAM if all its bytes are claimed as
// RAM and by nothing else.
func TestMapAgreesWithThePlainRule(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 300 {
		var in []entry
		for range rnd.Intn(9) {
			in = append(in, entry{uint64(rnd.Intn(64)) * 0x800, uint64(rnd.Intn(24)) * 0x800, Type(rnd.Intn(9))})
		}
		i := resolved(in)
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
				t.Fatalf("%#x: want RAM %v in %+v -> %+v", pa, want, in, i.Map[:i.NMap])
			}
		}
		for k := 1; k < i.NMap; k++ {
			if i.Map[k].PA < i.Map[k-1].PA+i.Map[k-1].Len {
				t.Fatalf("overlap or disorder: %x", i.Map[:i.NMap])
			}
		}
	}
}

// TestNamesOfLinux: the names of types in /proc/iomem.
func TestNamesOfLinux(t *testing.T) {
	for typ, want := range map[Type]string{RAM: "System RAM", Reserved: "Reserved", ACPI: "ACPI Tables", NVS: "ACPI Non-volatile Storage",
		Unusable: "Unusable memory", Disabled: "Reserved", PMEM: "Persistent Memory"} {
		if got := typ.String(); got != want {
			t.Errorf("%d: %q, want %q", typ, got, want)
		}
	}
}
