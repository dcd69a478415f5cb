package space

import (
	"sonde/kernel/mm/backing"

	"errors"
	"syscall"
	"testing"
)

// mapAt maps pages at a given address.
func mapAt(t *testing.T, s *Space, at, pages uint64, prot Prot, flags Flags, b backing.Store, off uint64) {
	t.Helper()
	_, err := s.Map(at, pages*PageSize, prot, flags|Fixed, b, off)
	must(t, err)
}

// loads fails the test unless the word at addr is v.
func loads(t *testing.T, s *Space, addr uint64, v uint32) {
	t.Helper()
	if got, err := s.Load32(addr); err != nil || got != v {
		t.Errorf("the word at %#x is %#x, %v, want %#x", addr, got, err, v)
	}
}

// filePage is the first word of that page of a fakeFile.
func filePage(page uint64) uint32 { return 0x01010101 * uint32(byte(page)^0x80) }

// TestCopiedFrameIsKeptUntilTheFlush: until then a CPU may read the frame through its old entry,
// and another space may put it at any time.
func TestCopiedFrameIsKeptUntilTheFlush(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	mapAt(t, s, high, 1, Read|Write, 0, nil, 0)
	must(t, s.Store32(high, 1))
	child, err := s.Fork()
	must(t, err)
	shared := s.Resident(high)
	flushed := 0
	forget := m.Shootdown
	m.Shootdown = func(of *Space, start, end uint64, tables bool) {
		if of == child {
			if n := m.Frames.Refs(shared); n != 2 {
				t.Errorf("the old frame has %d references when the CPUs are told", n)
			}
			flushed++
		}
		forget(of, start, end, tables)
	}
	must(t, child.Store32(high, 2))
	if flushed != 1 || m.Frames.Refs(shared) != 1 {
		t.Errorf("%d flushes, %d references", flushed, m.Frames.Refs(shared))
	}
	loads(t, s, high, 1)
}

// TestTreeOfTablesIsKeptUntilTheFlush: CPUs walk page tables until they are told not to.
func TestTreeOfTablesIsKeptUntilTheFlush(t *testing.T) {
	m := newMachine(t, 0) // its Shootdown inspects the CPU's cached entries
	s := m.space()
	mapAt(t, s, high, 1, Read|Write, 0, nil, 0)
	b, err := m.access(s, high, Write)
	must(t, err)
	*b = 1
	must(t, s.Unmap(high, PageSize))
	if n := len(m.cpu(s).tables); n != 0 {
		t.Errorf("the CPU knows %d tables", n)
	}
	s.Release()
	m.empty()
}

// TestForkKeepsTheHeap: brk(2) and fork(2): the child starts with its parent's break, and changes
// only its own.
func TestForkKeepsTheHeap(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	start := uint64(0x600000)
	s.SetHeap(start)
	s.Brk(start + 2*PageSize)
	must(t, s.Store32(start, 7))
	child, err := s.Fork()
	must(t, err)
	if at := child.Brk(0); at != start+2*PageSize {
		t.Errorf("the child's heap ends at %#x", at)
	}
	if at := child.Brk(start + 3*PageSize); at != start+3*PageSize || s.Brk(0) != start+2*PageSize {
		t.Errorf("the child's ends at %#x, the parent's at %#x", at, s.Brk(0))
	}
	loads(t, child, start, 7)
	if at := child.Brk(start + PageSize); at != start+PageSize {
		t.Errorf("it does not shrink below where it was at fork: %#x", at)
	}
	loads(t, s, start+PageSize, 0)
}

// TestForkKeepsLimits: the limit of the address space, and the size that counts for it.
func TestForkKeepsLimits(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	s.SetLimits(Limits{AS: 4 * PageSize, Data: unlimited, Stack: unlimited})
	mapAt(t, s, high, 3, Read, 0, nil, 0)
	child, err := s.Fork()
	must(t, err)
	_, err = child.Map(0, 2*PageSize, Read, 0, nil, 0)
	wants(t, child, err, syscall.ENOMEM, 1)
	_, err = child.Map(0, PageSize, Read, 0, nil, 0)
	must(t, err)
}

// TestStackStopsAtItsGap: to the byte.
func TestStackStopsAtItsGap(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	mapAt(t, s, high, 1, Read|Write, 0, nil, 0)
	lowest := uint64(high + PageSize + stackGap)
	mapAt(t, s, lowest+4*PageSize, 1, Read|Write, GrowsDown, nil, 0)
	if err := s.Fault(lowest-1, Write); !errors.Is(err, ErrNotMapped) {
		t.Errorf("one byte into the gap: %v", err)
	}
	must(t, s.Fault(lowest, Write))
}

// TestHeapGivesBackItsPages: pages after the break are freed, and are zero if the heap grows
// again.
func TestHeapGivesBackItsPages(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	start := uint64(0x600000)
	s.SetHeap(start)
	s.Brk(start + 2*PageSize)
	must(t, s.Store32(start+PageSize, 7))
	s.Brk(start + PageSize)
	if _, err := s.Load32(start + PageSize); !errors.Is(err, ErrNotMapped) {
		t.Errorf("behind the break: %v", err)
	}
	s.Brk(start + 2*PageSize)
	loads(t, s, start+PageSize, 0)
}

// TestHeapStopsExactly: at RLIMIT_DATA, and before the gap of a stack.
func TestHeapStopsExactly(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	start := uint64(0x600000)
	s.SetHeap(start)
	s.SetLimits(Limits{AS: unlimited, Data: 3 * PageSize, Stack: unlimited})
	if s.Brk(start+3*PageSize+1) != start || s.Brk(start+3*PageSize) != start+3*PageSize {
		t.Errorf("with a limit of 3 pages it ends at %#x", s.Brk(0))
	}
	s.SetLimits(Limits{AS: unlimited, Data: unlimited, Stack: unlimited})
	mapAt(t, s, start+8*PageSize+stackGap, 1, Read|Write, GrowsDown, nil, 0)
	if s.Brk(start+9*PageSize) != start+3*PageSize || s.Brk(start+8*PageSize) != start+8*PageSize {
		t.Errorf("below a stack it ends at %#x", s.Brk(0))
	}
}

// TestCutTakesCopies: ftruncate(2), mmap(2): pages after the end of the file are SIGBUS, also
// private copies; those before it stay.
func TestCutTakesCopies(t *testing.T) {
	m := newMachine(t, 0)
	f := m.file(4)
	s := m.space()
	mapAt(t, s, high, 3, Read|Write, 0, f, PageSize)
	for i := range uint64(3) {
		must(t, s.Store32(high+i*PageSize, uint32(i)+10))
	}
	f.size = 3
	m.Cut(f, 3)
	loads(t, s, high, 10)
	loads(t, s, high+PageSize, 11)
	if _, err := s.Load32(high + 2*PageSize); !errors.Is(err, backing.ErrBus) {
		t.Errorf("a copy of a page behind the end: %v", err)
	}
	f.size = 2
	m.Cut(f, 2)
	loads(t, s, high, 10)
	if _, err := s.Load32(high + PageSize); !errors.Is(err, backing.ErrBus) {
		t.Errorf("the first page behind the end: %v", err)
	}
}

// TestGrownFileMappingShowsTheNextPages: not the first ones again.
func TestGrownFileMappingShowsTheNextPages(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	mapAt(t, s, high, 2, Read, 0, m.file(8), 2*PageSize)
	at, err := s.Remap(high, 2*PageSize, 4*PageSize, Stay, 0)
	must(t, err)
	for i := range uint64(4) {
		loads(t, s, at+i*PageSize, filePage(2+i))
	}
	if a := s.Areas(); len(a) != 1 {
		t.Errorf("%d areas, not one", len(a))
	}
}

// TestRemapRefusesToOverlap: in both directions.
func TestRemapRefusesToOverlap(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at := uint64(high + 8*PageSize)
	mapAt(t, s, at, 4, Read|Write, 0, nil, 0)
	for _, to := range []uint64{at, at - PageSize, at - 3*PageSize, at + 3*PageSize} {
		_, err := s.Remap(at, 4*PageSize, 4*PageSize, MoveTo, to)
		wants(t, s, err, syscall.EINVAL, 1)
	}
	_, err := s.Remap(at, 4*PageSize, 4*PageSize, MoveTo, at-4*PageSize)
	must(t, err)
}

// TestBreaksNextToAMove: the page after the one that mremap moves keeps its breakpoints.
func TestBreaksNextToAMove(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	mapAt(t, s, high, 2, Read|Exec, 0, m.file(8), 0)
	must(t, s.Break(high+5))
	must(t, s.Break(high+PageSize))
	_, err := s.Remap(high, PageSize, PageSize, MoveTo, high+64*PageSize)
	must(t, err)
	var b [1]byte
	if _, err := s.Text(b[:], high+PageSize); err != nil || b[0] != byte(filePage(1)) {
		t.Errorf("the text behind it is %#x, %v", b[0], err)
	}
	if _, err := s.CopyIn(b[:], high+PageSize); err != nil || b[0] != int3 {
		t.Errorf("the breakpoint behind it is %#x, %v", b[0], err)
	}
	if _, err := s.CopyIn(b[:], high+64*PageSize+5); err != nil || b[0] != byte(filePage(0)) {
		t.Errorf("what has moved has %#x, %v", b[0], err)
	}
}

// TestBreakThatTheProgramOverwrote: the byte belongs to the program then, and is not restored.
func TestBreakThatTheProgramOverwrote(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	mapAt(t, s, high, 1, Read|Write|Exec, 0, m.file(8), 0)
	must(t, s.Break(high))
	_, err := s.CopyOut(high, []byte{0x55})
	must(t, err)
	var b [1]byte
	if _, err := s.Text(b[:], high); err != nil || b[0] != 0x55 {
		t.Errorf("the text is %#x, %v", b[0], err)
	}
	s.Unbreak(high)
	if _, err := s.CopyIn(b[:], high); err != nil || b[0] != 0x55 {
		t.Errorf("after removing it is %#x, %v", b[0], err)
	}
}

// TestBreakIsNotPutOverChangedText: the file has other bytes when its page is read again.
func TestBreakIsNotPutOverChangedText(t *testing.T) {
	m := newMachine(t, 0)
	f := m.file(8)
	s := m.space()
	mapAt(t, s, high, 1, Read|Exec, 0, f, 0)
	must(t, s.Break(high))
	f.m.Frames.Bytes(f.pages[0])[0] = 0x55
	must(t, s.Discard(high, PageSize))
	var b [1]byte
	if _, err := s.CopyIn(b[:], high); err != nil || b[0] != 0x55 {
		t.Errorf("it is %#x, %v", b[0], err)
	}
}

// TestReadOnlyFileStaysSo: mprotect(2): EACCES.
func TestReadOnlyFileStaysSo(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	mapAt(t, s, high, 2, Read, Shared|NoWrite, m.file(8), 0)
	wants(t, s, s.Protect(high, PageSize, Read|Write), syscall.EACCES, 1)
	must(t, s.Protect(high, PageSize, Read|Exec))
	mapAt(t, s, high+8*PageSize, 1, Read, NoWrite, m.file(8), 0) // a private one may be written
	must(t, s.Protect(high+8*PageSize, PageSize, Read|Write))
}

// TestByteBehindAMapping: it is not mapped.
func TestByteBehindAMapping(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	mapAt(t, s, high, 2, Read|Write, 0, nil, 0)
	end := uint64(high + 2*PageSize)
	for _, c := range []struct {
		start, end uint64
		want       bool
	}{{high, end, true}, {high, end + PageSize, false}, {high - PageSize, end, false}, {end, end + PageSize, false}, {high + PageSize, end, true}} {
		if got := s.Mapped(c.start, c.end); got != c.want {
			t.Errorf("%#x to %#x: %v", c.start, c.end, got)
		}
	}
	if _, ok := s.At(end); ok {
		t.Error("an area has the byte behind it")
	}
	if n, err := s.CopyOut(end-1, []byte{1, 2}); n != 1 || !errors.Is(err, ErrNotMapped) {
		t.Errorf("a write over the end: %d, %v", n, err)
	}
	if err := s.Clear(end-1, 2); !errors.Is(err, ErrNotMapped) {
		t.Errorf("clearing over the end: %v", err)
	}
	if err := s.Fault(end, Read); !errors.Is(err, ErrNotMapped) {
		t.Errorf("an access behind the end: %v", err)
	}
}
