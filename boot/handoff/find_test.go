package handoff

import (
	"math/rand"
	"testing"
)

// holed is RAM at [0x1000, 0x9000), [0x10000, 0x18000) and [0x20000, 0x40000).
func holed() *Info {
	return resolved([]entry{{0x1000, 0x8000, RAM}, {0x9000, 0x1000, Reserved}, {0x10000, 0x8000, RAM},
		{0x18000, 0x8000, NVS}, {0x20000, 0x20000, RAM}})
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name              string
		from, to, n, size uint64
		busy              []Span
		want              uint64
		ok                bool
	}{
		{"the first", 0, 1 << 20, 0x1000, 0x1000, nil, 0x1000, true},
		{"aligned", 0, 1 << 20, 0x1000, 0x8000, nil, 0x8000, true},
		{"aligned out of its region", 0, 1 << 20, 0x2000, 0x8000, nil, 0x10000, true},
		{"behind from", 0x11000, 1 << 20, 0x1000, 0x1000, nil, 0x11000, true},
		{"all of a region", 0, 1 << 20, 0x8000, 0x1000, nil, 0x1000, true},
		{"does not go over a hole", 0, 1 << 20, 0x9000, 0x1000, nil, 0x20000, true},
		{"behind what is busy", 0, 1 << 20, 0x4000, 0x1000, []Span{{0x2000, 0x1800}}, 0x4000, true},
		{"between two that are", 0, 1 << 20, 0x1000, 0x1000, []Span{{0x3000, 0x1000}, {0x1000, 0x1000}}, 0x2000, true},
		{"in no region that is full", 0, 1 << 20, 0x4000, 0x1000, []Span{{0, 0x12000}}, 0x12000, true},
		{"below to", 0, 0x28000, 0x8000, 0x1000, []Span{{0, 0x20000}}, 0x20000, true},
		{"not below to", 0, 0x27fff, 0x8000, 0x1000, []Span{{0, 0x20000}}, 0, false},
		{"too much", 0, 1 << 20, 0x20001, 0x1000, nil, 0, false},
		{"behind the end", 1 << 20, 2 << 20, 1, 1, nil, 0, false},
	} {
		if pa, ok := holed().Find(c.from, c.to, c.n, c.size, c.busy); ok != c.ok || ok && pa != c.want {
			t.Errorf("%s: %#x, %v, want %#x, %v", c.name, pa, ok, c.want, c.ok)
		}
	}
}

func TestFindSparesModules(t *testing.T) {
	i := holed()
	i.AddModule(Span{PA: 0x1800, Len: 0x10})
	if pa, ok := i.Find(0, 1<<20, 0x1000, 0x1000, nil); pa != 0x2000 || !ok {
		t.Errorf("%#x, %v", pa, ok)
	}
}

// The result of Find must be RAM, free and aligned, and no lower address may be.
func TestFindAgreesWithThePlainRule(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 2000 {
		i := holed()
		var busy []Span
		for range rnd.Intn(5) {
			busy = append(busy, Span{uint64(rnd.Intn(0x40)) * 0x800, uint64(1+rnd.Intn(8)) * 0x800})
		}
		n, align := uint64(1+rnd.Intn(6))*0x1000, uint64(0x1000)<<rnd.Intn(3)
		want, found := uint64(0), false
		for pa := uint64(0); pa < 0x40000 && !found; pa += align {
			_, taken := overlap(busy, pa, n)
			want, found = pa, i.HasRAM(Span{pa, n}) && !taken
		}
		if pa, ok := i.Find(0, 1<<20, n, align, busy); ok != found || ok && pa != want {
			t.Fatalf("%#x bytes at a multiple of %#x beside %x: %#x, %v, want %#x, %v", n, align, busy, pa, ok, want, found)
		}
	}
}

func TestHasRAM(t *testing.T) {
	for _, c := range []struct {
		s    Span
		want bool
	}{
		{Span{0x1000, 0x8000}, true}, {Span{0x1000, 0x8001}, false}, {Span{0xfff, 2}, false}, {Span{0x8fff, 1}, true},
		{Span{0x9000, 1}, false}, {Span{0x17000, 0x2000}, false}, {Span{0x1000, ^uint64(0)}, false}, {Span{^uint64(0), 2}, false},
	} {
		if got := holed().HasRAM(c.s); got != c.want {
			t.Errorf("%x: %v", c.s, got)
		}
	}
}

func TestTouchesRAM(t *testing.T) {
	for _, c := range []struct {
		s    Span
		want bool
	}{
		{Span{0xfff, 1}, false}, {Span{0xfff, 2}, true}, {Span{0x8fff, 0x1000}, true}, {Span{0x9000, 1}, false}, {Span{0, 1 << 40}, true},
	} {
		if got := holed().TouchesRAM(c.s); got != c.want {
			t.Errorf("%x: %v", c.s, got)
		}
	}
}

func TestRAMCountsOnlyRAM(t *testing.T) {
	var i Info
	regions := []Region{{Span{0, 0x9f000}, RAM}, {Span{0x9f000, 0x1000}, Reserved}, {Span{0x100000, 0x5f00000}, RAM}}
	i.SetMap(uint64(len(regions)), func(n uint64) Region { return regions[n] })
	if got := i.RAM(); got != 0x5f9f000 {
		t.Errorf("%#x bytes", got)
	}
}
