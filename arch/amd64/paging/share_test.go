package paging

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	. "sonde/arch/amd64"
)

const low, image, devices, heap = 0x1000, 64 << 20, 0xfe000000, 768 << 30

// aKernel maps what a kernel does, on a small scale.
func aKernel(t *testing.T, pages int) *Tables {
	t.Helper()
	tb := fresh(pages)
	must(t, tb.Map(low, low, 1<<20-low, PTE_W|PTE_G))
	must(t, tb.Map(image, image, 3*BigSize+PageSize, PTE_G))
	must(t, tb.Map(devices, devices, 1<<32-devices, PTE_W|PTE_PCD))
	must(t, tb.Map(heap, 1<<30, 4*BigSize, PTE_W))
	return tb
}

// sharing returns the tables of a program that shares tb, placed behind those of tb; it gets at
// most n.
func sharing(t *testing.T, tb *Tables, n int) (*Tables, error) {
	t.Helper()
	table := func() (*[entries]uint64, uint64, error) {
		if n--; n < 0 {
			return nil, 0, errors.New("no more")
		}
		pa := tb.newPage()
		if pa == 0 {
			t.Fatal("the test has too few pages")
		}
		return tableAt(tb, pa), pa, nil
	}
	root, pa, err := table()
	if err != nil {
		return nil, err
	}
	return &Tables{Mem: tb.Mem, Root: pa, Next: tb.Next, End: tb.End}, tb.ShareWith(root, BigSize, table)
}

func TestSharedTablesTranslateAsTheKernels(t *testing.T) {
	tb := aKernel(t, 40)
	p, err := sharing(t, tb, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, va := range []uint64{image, image + 3*BigSize, devices, devices + 0xe00000, 1<<32 - 1, heap, heap + 4*BigSize - 1} {
		pa, flags, ok := tb.Lookup(va)
		if !ok {
			t.Fatalf("%#x is not mapped", va)
		}
		expect(t, p, va, pa, flags)
		if flags&PTE_U != 0 {
			t.Errorf("%#x: a program may touch it", va)
		}
	}
	for _, va := range []uint64{low, 1<<20 - 1, image - 1, image + 3*BigSize + PageSize, devices - 1, heap - 1} {
		absent(t, p, va)
	}
}

// TestAProgramsMappingsAreItsOwn: its mappings are not in the kernel's tables, and have PTE_U on
// all levels.
func TestAProgramsMappingsAreItsOwn(t *testing.T) {
	tb := aKernel(t, 60)
	p, err := sharing(t, tb, 10)
	if err != nil {
		t.Fatal(err)
	}
	p.Next = tb.Next
	for _, w := range tb.Windows(0x10000, BigSize, 0x7ffffffff000) {
		for _, va := range []uint64{w.Start, w.End - PageSize} {
			must(t, p.Map(va, 0x5000, PageSize, PTE_U|PTE_W))
			expect(t, p, va, 0x5000, PTE_P|PTE_U|PTE_W)
			if va >= BigSize {
				absent(t, tb, va)
			}
		}
	}
	pa, _, _ := tb.Lookup(image)
	expect(t, p, image, pa, PTE_P|PTE_G|PTE_PS)
}

func TestWindowsAreWhatIsNotShared(t *testing.T) {
	tb := aKernel(t, 40)
	const end = 0x7ffffffff000
	want := []Window{{0x10000, image}, {image + 4*BigSize, devices}, {1 << 32, 512 << 30}, {1 << 40, end}}
	if got := tb.Windows(0x10000, BigSize, end); !slices.Equal(got, want) {
		t.Errorf("%#x\nwant %#x", got, want)
	}
	if got := tb.Windows(image+PageSize, BigSize, image+5*BigSize); !slices.Equal(got, []Window{{image + 4*BigSize, image + 5*BigSize}}) {
		t.Errorf("from within the image: %#x", got)
	}
	if got := tb.Windows(image, BigSize, image+BigSize); len(got) != 0 {
		t.Errorf("in the image: %#x", got)
	}
}

func TestSharingEndsWhenThereAreNoTables(t *testing.T) {
	whole := 0
	for n := 0; whole == 0 && n < 20; n++ {
		if _, err := sharing(t, aKernel(t, 40), n); err == nil {
			whole = n
		}
	}
	if whole != 4 { // root, the first 512 GiB, the first GiB, that of the devices
		t.Errorf("%d tables are enough, want 4", whole)
	}
}

func TestPagesOfAGigabyteAreShared(t *testing.T) {
	tb := aKernel(t, 40)
	tb.Mem.Write64(tb.entry(tb.Root, 0)&PTE_ADDR+5*8, 5<<30|PTE_P|PTE_W|PTE_PS)
	p, err := sharing(t, tb, 10)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, p, 5<<30+123, 5<<30+123, PTE_P|PTE_W|PTE_PS)
	if got := tb.Windows(5<<30-PageSize, BigSize, 6<<30+PageSize); !slices.Equal(got, []Window{{5<<30 - PageSize, 5 << 30}, {6 << 30, 6<<30 + PageSize}}) {
		t.Errorf("%#x", got)
	}
}

// tableAt returns the table at pa. Safe because: tb's memory is a buffer of the test's.
func tableAt(tb *Tables, pa uint64) *[entries]uint64 {
	return (*[entries]uint64)(unsafe.Add(tb.Mem.Base, pa))
}
