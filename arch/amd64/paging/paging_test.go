package paging

import (
	"testing"

	. "sonde/arch/amd64"
	"sonde/arch/amd64/phys"
)

const kernel = 0xffffffff80000000

// fresh returns empty tables with n pages of memory for them, which contain garbage, as real memory
// does.
func fresh(n int) *Tables {
	b := make([]byte, (n+1)*PageSize)
	for i := range b {
		b[i] = 0xa5
	}
	return &Tables{Mem: phys.Over(b), Next: PageSize, End: uint64(len(b))}
}

func must(t *testing.T, c Code) {
	t.Helper()
	if c != OK {
		t.Fatal(c)
	}
}

func expect(t *testing.T, tb *Tables, va, pa, flags uint64) {
	t.Helper()
	if p, f, ok := tb.Lookup(va); !ok || p != pa || f != flags {
		t.Fatalf("%#x -> %#x %#x %v, want %#x %#x", va, p, f, ok, pa, flags)
	}
}

func absent(t *testing.T, tb *Tables, va uint64) {
	t.Helper()
	if pa, _, ok := tb.Lookup(va); ok {
		t.Fatalf("%#x is mapped to %#x", va, pa)
	}
}

func TestEntriesAreWhatTheManualSays(t *testing.T) {
	tb := fresh(8)
	must(t, tb.Map(kernel+0x201000, 0x7000, PageSize, PTE_W|PTE_NX|PTE_G))
	must(t, tb.Map(0x40000000, 0x600000, BigSize, PTE_U))
	m := tb.Mem
	for _, c := range []struct{ at, want uint64 }{
		{0x1000 + 511*8, 0x2003}, {0x2000 + 510*8, 0x3003}, {0x3000 + 1*8, 0x4003},
		{0x4000 + 1*8, PTE_NX | 0x7103}, {0x4000, 0},
		{0x1000, 0x5007}, {0x5000 + 1*8, 0x6007}, {0x6000, 0x600085},
	} {
		if got := m.Read64(c.at); got != c.want {
			t.Errorf("entry at %#x is %#x, want %#x", c.at, got, c.want)
		}
	}
	if tb.Root != 0x1000 || tb.Next != 0x7000 {
		t.Errorf("root %#x next %#x", tb.Root, tb.Next)
	}
	expect(t, tb, 0x40000000+0x12345, 0x612345, PTE_P|PTE_U|PTE_PS)
	expect(t, tb, kernel+0x201fff, 0x7fff, PTE_P|PTE_W|PTE_NX|PTE_G)
}

func TestMapMixesPageSizes(t *testing.T) {
	tb := fresh(16)
	must(t, tb.Map(0x1ff000, 0x3ff000, PageSize+2*BigSize+PageSize, PTE_W))
	expect(t, tb, 0x1ff000, 0x3ff000, PTE_P|PTE_W)
	expect(t, tb, 0x200000, 0x400000, PTE_P|PTE_W|PTE_PS)
	expect(t, tb, 0x5fffff, 0x7fffff, PTE_P|PTE_W|PTE_PS)
	expect(t, tb, 0x600000, 0x800000, PTE_P|PTE_W)
	absent(t, tb, 0x601000)
	absent(t, tb, 0x1fe000)
	must(t, tb.Map(0x800000, 0x1000, BigSize, 0)) // pa does not allow large pages
	expect(t, tb, 0x9ff000, 0x200000, PTE_P)
}

func TestMapRefuses(t *testing.T) {
	for _, c := range []struct {
		name                string
		va, pa, size, flags uint64
		want                Code
	}{
		{"size 0", 0x1000, 0, 0, 0, Unaligned},
		{"va", 0x1001, 0, 0x1000, 0, Unaligned},
		{"pa", 0x1000, 0x10, 0x1000, 0, Unaligned},
		{"size", 0x1000, 0, 0x1001, 0, Unaligned},
		{"hole", 0x0000800000000000, 0, 0x1000, 0, NonCanonical},
		{"into the hole", 0x00007ffffffff000, 0, 0x2000, 0, NonCanonical},
		{"across the hole", 0x00007ffffffff000, 0, 0xffff000000002000, 0, NonCanonical},
		{"round the end", 0xfffffffffffff000, 0, 0x2000, 0, NonCanonical},
		{"pa too large", 0x1000, 1 << 52, 0x1000, 0, BadPhysical},
		{"pa ends too high", 0x1000, 1<<52 - 0x1000, 0x2000, 0, BadPhysical},
		{"PS", 0x1000, 0, 0x1000, PTE_PS, BadFlags},
		{"P", 0x1000, 0, 0x1000, PTE_P, BadFlags},
		{"address in flags", 0x1000, 0, 0x1000, 0x1000, BadFlags},
		{"same page", 0x400000, 0, 0x1000, 0, Overlap},
		{"inside a large page", 0x600000 + 0x5000, 0, 0x1000, 0, Overlap},
		{"large over small", 0x400000, 0, BigSize, 0, Overlap},
		{"reaching a mapping at its end", 0x200000, 0, BigSize + 0x1000, 0, Overlap},
	} {
		tb := fresh(8)
		must(t, tb.Map(0x400000, 0x1000, PageSize, 0))
		must(t, tb.Map(0x600000, 0x200000, BigSize, 0))
		if got := tb.Map(c.va, c.pa, c.size, c.flags); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		absent(t, tb, 0x200000)
		expect(t, tb, 0x400000, 0x1000, PTE_P)
		expect(t, tb, 0x600000, 0x200000, PTE_P|PTE_PS)
	}
}

func TestEndsOfTheAddressSpace(t *testing.T) {
	tb := fresh(16)
	must(t, tb.Map(0xfffffffffffff000, 0x5000, 0x1000, 0))
	must(t, tb.Map(0x00007ffffffff000, 0x6000, 0x1000, 0))
	must(t, tb.Map(0xffff800000000000, 0x7000, 0x1000, 0))
	must(t, tb.Map(0, 1<<52-0x1000, 0x1000, 0))
	expect(t, tb, 0xffffffffffffffff, 0x5fff, PTE_P)
	expect(t, tb, 0x00007fffffffffff, 0x6fff, PTE_P)
	expect(t, tb, 0xffff800000000000, 0x7000, PTE_P)
	expect(t, tb, 0, 1<<52-0x1000, PTE_P)
	absent(t, tb, 0x0000800000000000)
	must(t, tb.Unmap(0xfffffffffffff000, 0x1000))
	absent(t, tb, 0xffffffffffffffff)
}

func TestRunningOutOfPagesUndoesTheMap(t *testing.T) {
	for n := range 6 {
		tb := fresh(n)
		// Needs root, three tables, then a second last-level one.
		c := tb.Map(0x1ff000, 0x1000, 2*PageSize, 0)
		if (c == OK) != (n >= 5) || c != OK && c != OutOfPages {
			t.Fatalf("%d pages: %v", n, c)
		}
		if c != OK && tb.Root != 0 {
			absent(t, tb, 0x1ff000)
			absent(t, tb, 0x200000)
		}
	}
}

func TestProtectSplitsOnlyAtTheEdges(t *testing.T) {
	tb := fresh(8)
	must(t, tb.Map(kernel, 0x200000, 3*BigSize, PTE_W|PTE_G|PTE_D))
	used := tb.Next
	must(t, tb.Protect(kernel+BigSize-PageSize, BigSize+2*PageSize, PTE_G))
	if tb.Next != used+2*PageSize {
		t.Errorf("%d pages used, want 2", (tb.Next-used)/PageSize)
	}
	const old, new = PTE_P | PTE_W | PTE_G | PTE_D, PTE_P | PTE_G | PTE_D // D is kept
	expect(t, tb, kernel, 0x200000, old)
	expect(t, tb, kernel+BigSize-2*PageSize, 0x3fe000, old)
	expect(t, tb, kernel+BigSize-PageSize, 0x3ff000, new)
	expect(t, tb, kernel+BigSize, 0x400000, new|PTE_PS)
	expect(t, tb, kernel+2*BigSize, 0x600000, new)
	expect(t, tb, kernel+2*BigSize+PageSize, 0x601000, old)
	expect(t, tb, kernel+3*BigSize-1, 0x7fffff, old)
}

func TestProtectInsideOneLargePage(t *testing.T) {
	tb := fresh(8)
	must(t, tb.Map(0x200000, 0x200000, BigSize, PTE_W))
	must(t, tb.Protect(0x280000, PageSize, PTE_U|PTE_NX))
	expect(t, tb, 0x27ffff, 0x27ffff, PTE_P|PTE_W)
	expect(t, tb, 0x280000, 0x280000, PTE_P|PTE_U|PTE_NX)
	expect(t, tb, 0x281000, 0x281000, PTE_P|PTE_W)
	for _, at := range []uint64{0x1000, 0x2000, 0x3000 + 8} { // the path lets user mode through
		if tb.Mem.Read64(at)&PTE_U == 0 {
			t.Errorf("table entry at %#x has no U", at)
		}
	}
}

func TestProtectAndUnmapNeedItAllMapped(t *testing.T) {
	tb := fresh(8)
	if c := tb.Unmap(0x1000, 0x1000); c != NotMapped {
		t.Error("empty:", c)
	}
	must(t, tb.Map(0x1000, 0x1000, 2*PageSize, PTE_W))
	must(t, tb.Map(0x4000, 0x4000, PageSize, PTE_W))
	for _, c := range []Code{tb.Unmap(0x1000, 4*PageSize), tb.Protect(0x1000, 4*PageSize, 0), tb.Unmap(0, 2*PageSize)} {
		if c != NotMapped {
			t.Error(c)
		}
	}
	if c := tb.Protect(0x1000, PageSize, PTE_P); c != BadFlags {
		t.Error(c)
	}
	expect(t, tb, 0x1000, 0x1000, PTE_P|PTE_W)
	expect(t, tb, 0x4000, 0x4000, PTE_P|PTE_W)
}

func TestSplitWithoutPagesChangesNothing(t *testing.T) {
	tb := fresh(3)
	must(t, tb.Map(0x200000, 0x200000, BigSize, PTE_W))
	if c := tb.Unmap(0x201000, PageSize); c != OutOfPages {
		t.Fatal(c)
	}
	expect(t, tb, 0x201000, 0x201000, PTE_P|PTE_W|PTE_PS)
}

func TestLargePageAfterSmallOnesUsesTheirTable(t *testing.T) {
	tb := fresh(4)
	must(t, tb.Map(0x200000, 0x9000, PageSize, 0))
	must(t, tb.Unmap(0x200000, PageSize))
	must(t, tb.Map(0x200000, 0x400000, BigSize, PTE_W))
	expect(t, tb, 0x3ff000, 0x5ff000, PTE_P|PTE_W)
}

func TestGigabytePagesBuiltElsewhere(t *testing.T) {
	tb := fresh(8)
	must(t, tb.Map(0, 0, PageSize, 0))
	tb.Mem.Write64(0x2000+8, 1<<30|PTE_P|PTE_W|PTE_PS) // second GiB, identity
	expect(t, tb, 1<<30+0x1234567, 1<<30+0x1234567, PTE_P|PTE_W|PTE_PS)
	if c := tb.Map(1<<30+BigSize, 0, PageSize, 0); c != Overlap {
		t.Fatal(c)
	}
	must(t, tb.Unmap(1<<30+BigSize+PageSize, PageSize))
	absent(t, tb, 1<<30+BigSize+PageSize)
	expect(t, tb, 1<<30+BigSize, 1<<30+BigSize, PTE_P|PTE_W)
	expect(t, tb, 1<<30+2*BigSize, 1<<30+2*BigSize, PTE_P|PTE_W|PTE_PS)
}

func TestNoAllocation(t *testing.T) {
	tb := fresh(16)
	if n := testing.AllocsPerRun(10, func() {
		tb.Root, tb.Next = 0, PageSize
		tb.Map(kernel, 0x200000, BigSize, PTE_W)
		tb.Protect(kernel, PageSize, 0)
		tb.Lookup(kernel)
		tb.Unmap(kernel, BigSize)
	}); n != 0 {
		t.Fatal(n)
	}
}
