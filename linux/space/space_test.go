package space

import (
	"sonde/kernel/mm/backing"

	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const high = 1 << 40

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails the test unless err is errno and s still has that number of areas.
func wants(t *testing.T, s *Space, err error, errno syscall.Errno, areas int) {
	t.Helper()
	if !errors.Is(err, errno) || len(s.Areas()) != areas {
		t.Errorf("%v, %d areas; want %v, %d", err, len(s.Areas()), errno, areas)
	}
}

func TestMapRefuses(t *testing.T) {
	m := newMachine(t, 0)
	m.RAM = 1 << 30
	s := m.space()
	_, err := s.Map(high, 4*PageSize, Read, Fixed, nil, 0)
	must(t, err)
	f := m.file(1)
	for _, c := range []struct {
		name    string
		addr, n uint64
		prot    Prot
		flags   Flags
		off     uint64
		errno   syscall.Errno
	}{
		{"nothing", 0, 0, Read, 0, 0, syscall.EINVAL},
		{"all there is", 0, unlimited, Read, 0, 0, syscall.ENOMEM},
		{"a length that wraps", 0, unlimited - 7, Read, 0, 0, syscall.ENOMEM},
		{"a length that wraps at an odd address", high + 1, unlimited - 7, Read, Fixed, 0, syscall.ENOMEM},
		{"more than addresses", 0, 1 << 60, Read, 0, 0, syscall.ENOMEM},
		{"odd address", high + 1, 1, Read, Fixed, 0, syscall.EINVAL},
		{"odd offset", 0, 1, Read, 0, 5, syscall.EINVAL},
		{"offset that wraps", 0, PageSize, Read, 0, unlimited &^ (PageSize - 1), syscall.EOVERFLOW},
		{"offset beyond all files", 0, PageSize + 1, Read, 0, 1<<63 - PageSize, syscall.EOVERFLOW},
		{"no such right", 0, 1, 8, 0, 0, syscall.EINVAL},
		{"page zero", 0, PageSize, Read, Fixed, 0, syscall.ENOMEM},
		{"the kernel's", 0xffffffff84000000, PageSize, Read, Fixed, 0, syscall.ENOMEM},
		{"across the end", 0x7fff_ffff_e000, 2 * PageSize, Read, Fixed, 0, syscall.ENOMEM},
		{"below the first", 0xf000, 2 * PageSize, Read, Fixed, 0, syscall.ENOMEM},
		{"beyond the end", 0x7fff_ffff_f000, PageSize, Read, Fixed, 0, syscall.ENOMEM},
		{"not canonical", 1 << 63, PageSize, Read, Fixed, 0, syscall.ENOMEM},
		{"round the end", unlimited &^ (PageSize - 1), PageSize, Read, Fixed, 0, syscall.ENOMEM},
		{"taken", high + 3*PageSize, 2 * PageSize, Read, NoReplace, 0, syscall.EEXIST},
		{"read-only file", 0, PageSize, Read | Write, Shared | NoWrite, 0, syscall.EACCES},
		{"more than memory", 0, 2 << 30, Read | Write, 0, 0, syscall.ENOMEM},
		{"a file that grows down", 0, PageSize, Read, GrowsDown, PageSize, syscall.EINVAL},
		{"shared memory that grows down", 0, PageSize, Read, GrowsDown | Shared, 0, syscall.EINVAL},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b backing.Store
			if c.off != 0 || c.flags&NoWrite != 0 {
				b = f
			}
			_, err := s.Map(c.addr, c.n, c.prot, c.flags, b, c.off)
			wants(t, s, err, c.errno, 1)
		})
	}
	if f.holds != 0 {
		t.Error("a refused mapping holds its file")
	}
	_, err = s.Map(0, 2<<30, Read|Write, NoReserve, nil, 0)
	must(t, err)
}

func TestAddressesAreChosen(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	last := testPrograms.End
	stack, err := s.Map(last-1<<20, 1<<20, Read|Write, Fixed|GrowsDown, nil, 0)
	must(t, err)
	check := func(what string, addr, n uint64, flags Flags, want uint64) {
		t.Helper()
		if got, err := s.Map(addr, n, Read, flags, nil, 0); err != nil || got != want {
			t.Errorf("%s: %#x, %v, want %#x", what, got, err, want)
		}
	}
	top := last - stackRoom
	check("no hint", 0, PageSize, 0, top-PageSize)
	check("below it", 0, 3*PageSize, 0, top-4*PageSize)
	check("hint", 0x500000, PageSize, 0, 0x500000)
	check("hint within a page", 0x600123, PageSize, 0, 0x600000)
	check("hint that is taken", 0x500000, PageSize, 0, top-5*PageSize)
	check("hint at the kernel's", 0xffffffc000000000, PageSize, 0, top-6*PageSize)
	check("hint where the stack grows", stack-stackGap, PageSize, 0, top-7*PageSize)
	check("low", 0, PageSize, Low, 2<<30-PageSize)
	must(t, s.Unmap(top-4*PageSize, 2*PageSize))
	check("a gap", 0, 2*PageSize, 0, top-4*PageSize)
	check("nearly all", 0, top-high-7*PageSize, NoReserve, high)
	check("down to what was low", 0, high-2<<30, NoReserve, 2<<30)
	check("below that", 0, 2<<30-PageSize-128<<20, NoReserve, 128<<20)
	check("between the hints", 0, 100<<20, NoReserve, 28<<20)
	check("and below", 0, 28<<20-0x601000, NoReserve, 0x601000)
	check("above the top, but not where the stack grows", 0, 64<<20, NoReserve, stack-stackGap-64<<20)
	_, err = s.Map(0, 64<<20, Read, NoReserve, nil, 0)
	wants(t, s, err, syscall.ENOMEM, len(s.Areas()))
}

func TestStackGrows(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	s.SetLimits(Limits{AS: 64 << 20, Data: unlimited, Stack: 8 << 20})
	end := uint64(0x7fff_ffff_0000)
	_, err := s.Map(end-PageSize, PageSize, Read|Write, Fixed|GrowsDown, nil, 0)
	must(t, err)
	must(t, s.Fault(end-5*PageSize, Write))
	if a := s.Areas(); len(a) != 1 || a[0].Start != end-5*PageSize || s.Usage().Total != 5*PageSize {
		t.Fatal(a)
	}
	must(t, s.Fault(end-8<<20, Write))
	if err := s.Fault(end-8<<20-1, Write); !errors.Is(err, ErrNotMapped) {
		t.Error("beyond the limit:", err)
	}
	s.SetLimits(Limits{AS: 9 << 20, Data: unlimited, Stack: 64 << 20})
	if err := s.Fault(end-10<<20, Write); !errors.Is(err, ErrNotMapped) {
		t.Error("beyond the limit of the space:", err)
	}
	s.SetLimits(Limits{AS: unlimited, Data: unlimited, Stack: 64 << 20})
	_, err = s.Map(end-20<<20, PageSize, Read|Write, Fixed, nil, 0)
	must(t, err)
	if err := s.Fault(end-20<<20+PageSize, Write); !errors.Is(err, ErrNotMapped) {
		t.Error("onto its neighbour:", err)
	}
	must(t, s.Fault(end-20<<20+PageSize+stackGap, Write))
}

func TestHeap(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	s.SetLimits(Limits{AS: unlimited, Data: 1 << 20, Stack: unlimited})
	start := uint64(0x601000)
	s.SetHeap(0x600123)
	for _, c := range []struct{ ask, want uint64 }{
		{0, start}, {start - 1, start}, {start + 10, start + 10}, {start + 5000, start + 5000},
		{start + 2<<20, start + 5000}, {unlimited, start + 5000}, {start + 1<<20, start + 1<<20}, {start + 1, start + 1},
	} {
		if got := s.Brk(c.ask); got != c.want {
			t.Errorf("Brk(%#x) = %#x, want %#x", c.ask, got, c.want)
		}
	}
	a := s.Areas()
	if len(a) != 1 || a[0].Start != start || a[0].End != start+PageSize || a[0].Ident.Name != "[heap]" {
		t.Fatal(a)
	}
	_, err := s.Map(start+4*PageSize, PageSize, Read, Fixed, nil, 0)
	must(t, err)
	if got := s.Brk(start + 5*PageSize); got != start+1 {
		t.Errorf("the heap grows over a mapping: %#x", got)
	}
	if got := s.Brk(start + 4*PageSize); got != start+4*PageSize {
		t.Errorf("Brk up to a mapping: %#x", got)
	}
	if got := s.Brk(start); got != start || len(s.Areas()) != 1 {
		t.Errorf("Brk to nothing: %#x", got)
	}
}

// A program that maps, touches and unmaps at many addresses must not keep the tables.
func TestTablesGoWithTheirAreas(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	m.SpareTables = 32
	spare := uint64(m.SpareTables * PageSize)
	for i := range uint64(1000) {
		at := high + i*3<<30
		_, err := s.Map(at, PageSize, Read|Write, Fixed, nil, 0)
		must(t, err)
		must(t, s.Store32(at, 1))
		must(t, s.Unmap(at, PageSize))
	}
	if after := s.Usage(); after.Tables > spare || after.Resident != 0 {
		t.Fatalf("%+v, want tables of %d bytes", after, spare)
	}
	for i := range uint64(20) {
		_, err := s.Map(4<<30+i*1<<30, 2<<20, Read|Write, Fixed, nil, 0)
		must(t, err)
		must(t, s.Store32(4<<30+i*1<<30, 1))
	}
	for i := range uint64(m.SpareTables) { // where tables existed before
		_, err := s.Map(high+i*3<<30, PageSize, Read|Write, Fixed, nil, 0)
		must(t, err)
		must(t, s.Store32(high+i*3<<30, 1))
	}
	must(t, s.Unmap(PageSize*16, 0x7fff_f000_0000))
	if after := s.Usage(); after.Tables > 5*PageSize {
		t.Fatalf("all unmapped: %+v, want 5 pages of tables", after)
	}
	s.Release()
	m.empty()
}

func TestWords(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(0, PageSize, Read|Write, 0, nil, 0)
	must(t, err)
	must(t, s.Store32(at, 5))
	if ok, err := s.CompareAndSwap32(at, 4, 6); ok || err != nil {
		t.Error(ok, err)
	}
	if ok, err := s.CompareAndSwap32(at, 5, 6); !ok || err != nil {
		t.Error(ok, err)
	}
	if v, err := s.Load32(at); v != 6 || err != nil {
		t.Error(v, err)
	}
	if _, err := s.Load32(at + 2); !errors.Is(err, syscall.EINVAL) {
		t.Error("not aligned:", err)
	}
	must(t, s.Protect(at, PageSize, Read))
	if err := s.Store32(at, 1); !errors.Is(err, ErrAccess) {
		t.Error("read-only:", err)
	}
}

func TestKeys(t *testing.T) {
	m := newMachine(t, 0)
	f := m.file(4)
	s := m.space()
	private, _ := s.Map(0, PageSize, Read, 0, nil, 0)
	shared, _ := s.Map(0, 2*PageSize, Read, Shared, f, PageSize)
	again, _ := s.Map(0, PageSize, Read, Shared, f, 2*PageSize)
	none, _ := s.Map(0, PageSize, Read, Shared, nil, 0)
	child, err := s.Fork()
	must(t, err)
	key := (*Space).Key
	if key(s, private) != key(s, private) || key(s, private) == key(s, private+4) || key(s, private) == key(child, private) {
		t.Error("private")
	}
	if key(s, shared+PageSize) != key(child, again) || key(s, shared) == key(s, again) || key(s, none) != key(child, none) {
		t.Error("shared")
	}
	if s.MayChange(private) || !s.MayChange(shared) || s.MayChange(64<<20) {
		t.Error("what may change")
	}
}

func TestMapsLines(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	_, err := s.Map(0x400000, 2*PageSize, Read|Exec, Fixed, m.file(9), PageSize)
	must(t, err)
	s.SetHeap(0x600000)
	s.Brk(0x600001)
	_, err = s.Map(0x7fffffffd000, PageSize, Read|Write, Fixed|GrowsDown, nil, 0)
	must(t, err)
	_, err = s.Map(high, PageSize, 0, Fixed|Shared, m.file(1), 0)
	must(t, err)
	_, err = s.Map(high+1<<40, PageSize, Read, Fixed, nil, 0)
	must(t, err)
	var b strings.Builder
	_, err = s.WriteTo(&b)
	must(t, err)
	// As cat /proc/self/maps prints them on Linux.
	want := `00400000-00402000 r-xp 00001000 08:00 42                                 /bin/fake
00600000-00601000 rw-p 00000000 00:00 0                                  [heap]
10000000000-10000001000 ---s 00000000 08:00 42                           /bin/fake
20000000000-20000001000 r--p 00000000 00:00 0 
7fffffffd000-7fffffffe000 rw-p 00000000 00:00 0                          [stack]
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestAfterRelease(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(0, PageSize, Read|Write, 0, nil, 0)
	must(t, err)
	must(t, s.Store32(at, 1))
	s.Release()
	s.Release()
	if _, err := s.Map(0, PageSize, Read, 0, nil, 0); !errors.Is(err, syscall.EFAULT) {
		t.Error("Map:", err)
	}
	if _, err := s.Fork(); !errors.Is(err, syscall.EFAULT) {
		t.Error("Fork:", err)
	}
	if _, err := s.Load32(at); !errors.Is(err, syscall.EFAULT) {
		t.Error("Load32:", err)
	}
	must(t, s.Unmap(at, PageSize))
	if s.Brk(at) != 0 || s.Root() != 0 || len(s.Areas()) != 0 {
		t.Error("something is left")
	}
	m.empty()
}

// Threads fault, map and copy in one space while others fork it; the race detector checks that.
func TestManyThreads(t *testing.T) {
	m := newMachine(t, 0)
	m.Shootdown, m.Retire = nil, nil // no processor: m.cpus is for one thread
	s := m.space()
	at, err := s.Map(0, 64*PageSize, Read|Write, 0, nil, 0)
	must(t, err)
	var wg sync.WaitGroup
	for id := range uint64(6) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mine := at + id*8*PageSize
			for i := range uint64(400) {
				addr := mine + i%8*PageSize
				if err := s.Store32(addr, uint32(i)); err != nil {
					t.Error(err)
				}
				if v, err := s.Load32(addr); err != nil || v != uint32(i) {
					t.Errorf("%d, %v, want %d", v, err, i)
				}
				if i%16 == id {
					child, err := s.Fork()
					if err != nil {
						t.Error(err)
						return
					}
					if v, err := child.Load32(addr); err != nil || v != uint32(i) {
						t.Errorf("child: %d, %v, want %d", v, err, i)
					}
					child.Release()
				}
				if own, err := s.Map(0, PageSize, Read, 0, nil, 0); err != nil || s.Unmap(own, PageSize) != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	s.Release()
	m.empty()
}

func TestPeek(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(0, 3*PageSize, Read|Write, 0, nil, 0)
	must(t, err)
	_, err = s.CopyOut(at+PageSize-2, []byte("abcd"))
	must(t, err)
	b := make([]byte, 8)
	for _, c := range []struct {
		addr uint64
		want string
	}{
		{at + PageSize - 2, "abcd\x00\x00\x00\x00"}, {at + 2*PageSize - 2, "\x00\x00"}, // the third page is not in memory yet
		{at + 2*PageSize, ""}, {at - 1, ""}, {0, ""}, {64 << 20, ""}, {768 << 30, ""}, {1 << 47, ""}, {1 << 63, ""}, {unlimited, ""},
	} {
		if n := s.Peek(b, c.addr); string(b[:n]) != c.want {
			t.Errorf("%#x: %q, want %q", c.addr, b[:n], c.want)
		}
	}
	must(t, s.Protect(at, PageSize, 0))
	if n := s.Peek(b, at+PageSize-2); n != 0 {
		t.Error("a page that may not be read was")
	}
	if n := testing.AllocsPerRun(10, func() { s.Peek(b, at+PageSize) }); n != 0 {
		t.Error("Peek allocates", n)
	}
	s.Release()
	if n := s.Peek(b, at+PageSize); n != 0 {
		t.Error("after Release")
	}
}
