package paging

import (
	"testing"
	"unsafe"

	. "sonde/arch/amd64"
)

const image, devices, heap = 0xffffffff84000000, 0xffff8000fe000000, 0xffffffc000000000

// aKernel maps what the kernel does, in small.
func aKernel(t *testing.T, pages int) *Tables {
	t.Helper()
	tb := fresh(pages)
	must(t, tb.Map(image, 64<<20, 3*BigSize+PageSize, PTE_G))
	must(t, tb.Map(devices, 0xfe000000, 1<<32-0xfe000000, PTE_W|PTE_PCD))
	must(t, tb.Map(heap, 1<<30, 4*BigSize, PTE_W))
	return tb
}

// sharing returns the tables of a program that shares tb, whose tables follow tb's.
func sharing(t *testing.T, tb *Tables) *Tables {
	t.Helper()
	pa := tb.newPage()
	if pa == 0 {
		t.Fatal("the test has too few pages")
	}
	// Safe because: tb's memory is a buffer of the test's.
	tb.UpperHalf((*[entries]uint64)(unsafe.Add(tb.Mem.Base, pa)))
	return &Tables{Mem: tb.Mem, Root: pa, Next: tb.Next, End: tb.End}
}

func TestSharedTablesTranslateAsTheKernels(t *testing.T) {
	tb := aKernel(t, 40)
	p := sharing(t, tb)
	for _, va := range []uint64{image, image + 3*BigSize, devices, devices + 0x1ffffff, heap, heap + 4*BigSize - 1} {
		pa, flags, ok := tb.Lookup(va)
		if !ok {
			t.Fatalf("%#x is not mapped", va)
		}
		expect(t, p, va, pa, flags)
		if flags&PTE_U != 0 {
			t.Errorf("%#x: a program may touch it", va)
		}
	}
	for _, va := range []uint64{0, 1<<47 - 1, image - 1, image + 3*BigSize + PageSize, devices - 1, heap - 1} {
		absent(t, p, va)
	}
}

// TestAProgramsMappingsAreItsOwn: what it maps in the lower half does not show in the kernel's
// tables, and needs PTE_U on the whole way.
func TestAProgramsMappingsAreItsOwn(t *testing.T) {
	tb := aKernel(t, 60)
	must(t, tb.Map(0x8000, 0x8000, PageSize, PTE_W)) // not shared
	p := sharing(t, tb)
	absent(t, p, 0x8000)
	for _, va := range []uint64{0x8000, 64 << 20, 1<<47 - PageSize} {
		must(t, p.Map(va, 0x5000, PageSize, PTE_U|PTE_W))
		expect(t, p, va, 0x5000, PTE_P|PTE_U|PTE_W)
		if va != 0x8000 {
			absent(t, tb, va)
		}
	}
	pa, _, _ := tb.Lookup(image)
	expect(t, p, image, pa, PTE_P|PTE_G|PTE_PS)
}
