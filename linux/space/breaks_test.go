package space

import (
	"errors"
	"syscall"
	"testing"
)

// text maps pages of a file in the way a program's text is mapped.
func text(t *testing.T, s *Space, f *fakeFile, flags Flags) uint64 {
	t.Helper()
	at, err := s.Map(high, 2*PageSize, Read|Exec, Fixed|flags, f, 0)
	must(t, err)
	return at
}

// byteAt reads a byte as the program would.
func byteAt(t *testing.T, s *Space, addr uint64) byte {
	t.Helper()
	var b [1]byte
	_, err := s.CopyIn(b[:], addr)
	must(t, err)
	return b[0]
}

func TestBreakIsOfOneSpace(t *testing.T) {
	m := newMachine(t, 0)
	s, other, f := m.space(), m.space(), m.file(2)
	at := text(t, s, f, 0) + 5
	text(t, other, f, 0)
	was := byteAt(t, other, at)
	must(t, s.Break(at))
	if got := byteAt(t, s, at); got != int3 {
		t.Errorf("%#x", got)
	}
	var b [3]byte
	if n, err := s.Text(b[:], at-1); n != 3 || err != nil || b != [3]byte{was, was, was} {
		t.Errorf("Text: % x, %v", b, err)
	}
	if byteAt(t, other, at) != was || m.Frames.Bytes(f.pages[0])[5] != was {
		t.Error("the breakpoint is in the file")
	}
	if err := s.Break(at); !errors.Is(err, syscall.EEXIST) {
		t.Error(err)
	}
	s.Unbreak(at)
	s.Unbreak(at)
	if got := byteAt(t, s, at); got != was || len(s.breaks) != 0 {
		t.Errorf("%#x, %d pages", got, len(s.breaks))
	}
}

// TestBreakSurvivesDrop: a page that is dropped and faulted in again has its breakpoints.
func TestBreakSurvivesDrop(t *testing.T) {
	m := newMachine(t, 0)
	s, f := m.space(), m.file(2)
	at := text(t, s, f, 0) + 7
	was := byteAt(t, s, at)
	must(t, s.Break(at))
	must(t, s.Break(at+1))
	for _, want := range []Prot{Read, Exec} {
		must(t, s.Discard(high, 2*PageSize))
		must(t, s.Fault(at, want))
		if byteAt(t, s, at) != int3 || byteAt(t, s, at+1) != int3 {
			t.Error("the breakpoints are gone")
		}
	}
	if m.Frames.Bytes(f.pages[0])[7] != was {
		t.Error("the breakpoint is in the file")
	}
	must(t, s.Discard(high, 2*PageSize))
	s.Unbreak(at)
	if byteAt(t, s, at) != was || byteAt(t, s, at+1) != int3 {
		t.Error("removed while the page was not there")
	}
}

func TestBreakIsNotOfAChild(t *testing.T) {
	m := newMachine(t, 0)
	s, f := m.space(), m.file(2)
	at := text(t, s, f, 0)
	was := byteAt(t, s, at)
	must(t, s.Break(at))
	child, err := s.Fork()
	must(t, err)
	if byteAt(t, child, at) != was || byteAt(t, s, at) != int3 {
		t.Errorf("child %#x, parent %#x", byteAt(t, child, at), byteAt(t, s, at))
	}
	must(t, child.Break(at))
	s.Unbreak(at)
	if byteAt(t, child, at) != int3 || byteAt(t, s, at) != was {
		t.Error("the two have one breakpoint")
	}
}

// TestBreakIsOfWhatIsMapped: another mapping at the address is not changed.
func TestBreakIsOfWhatIsMapped(t *testing.T) {
	m := newMachine(t, 0)
	s, f := m.space(), m.file(4)
	at := text(t, s, f, 0) + 9
	must(t, s.Break(at))
	_, err := s.Map(high, 2*PageSize, Read|Exec, Fixed, f, 2*PageSize)
	must(t, err)
	if got := byteAt(t, s, at); got != 2^0x80 {
		t.Errorf("%#x in another page of the file", got)
	}
	s.Unbreak(at)
	if got := byteAt(t, s, at); got != 2^0x80 {
		t.Errorf("%#x after that", got)
	}
	// Nor is a breakpoint that the program itself has there.
	must(t, s.Break(at))
	_, err = s.Map(high, 2*PageSize, Read|Write|Exec, Fixed, nil, 0)
	must(t, err)
	_, err = s.CopyOut(at, []byte{int3})
	must(t, err)
	s.Unbreak(at)
	if got := byteAt(t, s, at); got != int3 {
		t.Errorf("%#x instead of the program's own breakpoint", got)
	}
}

// TestBreakIsNotOfAnotherFile: not even if the other file has the same bytes.
func TestBreakIsNotOfAnotherFile(t *testing.T) {
	m := newMachine(t, 0)
	s, f := m.space(), m.file(2)
	at := text(t, s, f, 0) + 9
	was := byteAt(t, s, at)
	must(t, s.Break(at))
	text(t, s, m.file(2), 0)
	if got := byteAt(t, s, at); got != was {
		t.Errorf("%#x in another file", got)
	}
	text(t, s, f, 0)
	if got := byteAt(t, s, at); got != int3 {
		t.Errorf("%#x in the file itself, when it is mapped again", got)
	}
}

func TestBreakDoesNotMove(t *testing.T) {
	m := newMachine(t, 0)
	s, f := m.space(), m.file(2)
	at := text(t, s, f, 0) + 9
	was := byteAt(t, s, at)
	must(t, s.Break(at))
	to, err := s.Remap(high, 2*PageSize, 2*PageSize, MoveTo, high+16*PageSize)
	must(t, err)
	if got := byteAt(t, s, to+9); got != was {
		t.Errorf("%#x in the moved page", got)
	}
	// Break is not called again for what is mapped there later.
	text(t, s, f, 0)
	if got := byteAt(t, s, at); got != int3 {
		t.Errorf("%#x in the file, when it is mapped at the old place again", got)
	}
	s.Unbreak(at)
	if got := byteAt(t, s, at); got != was || byteAt(t, s, to+9) != was || len(s.breaks) != 0 {
		t.Errorf("%#x, %d pages, when the breakpoint is removed", got, len(s.breaks))
	}
}

func TestBreakRefuses(t *testing.T) {
	m := newMachine(t, 0)
	s, f := m.space(), m.file(2)
	text(t, s, f, Shared)
	_, err := s.Map(high+4*PageSize, PageSize, Read|Write, Fixed, nil, 0)
	must(t, err)
	foreign, err := s.Map(high+8*PageSize, PageSize, Read|Write|Exec, Fixed, nil, 0)
	must(t, err)
	_, err = s.CopyOut(foreign, []byte{int3})
	must(t, err)
	for name, c := range map[string]struct {
		addr  uint64
		errno syscall.Errno
	}{
		"a shared mapping": {high, syscall.EACCES},
		"data":             {high + 4*PageSize, syscall.EACCES},
		"nothing":          {high + 6*PageSize, syscall.EFAULT},
		"another's":        {foreign, syscall.EEXIST},
	} {
		if err := s.Break(c.addr); !errors.Is(err, c.errno) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(s.breaks) != 0 {
		t.Error("a refusal leaves something")
	}
	s.Release()
	if err := s.Break(high); !errors.Is(err, syscall.EFAULT) {
		t.Error(err)
	}
}

// TestBreakIsSeenByCPUs: when Break and Unbreak return, each CPU has left ring 3 since the byte was
// written, and executes the private page from then on.
func TestBreakIsSeenByCPUs(t *testing.T) {
	m := newMachine(t, 0)
	s, f := m.space(), m.file(2)
	at := text(t, s, f, 0) + 5
	was := byteAt(t, s, at)
	fetch := func() byte {
		b, err := m.access(s, at, Exec)
		must(t, err)
		return *b
	}
	fetch() // now the CPU knows the page
	var left []byte
	plain := m.Shootdown
	m.Shootdown = func(s *Space, start, end uint64, tables bool) {
		plain(s, start, end, tables)
		left = append(left, lockedByte(m, s, at))
	}
	for range 2 { // the second time, the page is private already
		left = nil
		must(t, s.Break(at))
		if b := fetch(); b != int3 || len(left) == 0 || left[len(left)-1] != int3 {
			t.Errorf("Break: it executes %#x, and had %#x when it left ring 3", b, left)
		}
		left = nil
		s.Unbreak(at)
		if b := fetch(); b != was || len(left) == 0 || left[len(left)-1] != was {
			t.Errorf("Unbreak: it executes %#x, and had %#x when it left ring 3", b, left)
		}
	}
}

// lockedByte is byteAt for a caller that holds the space's lock.
func lockedByte(m *fakeMachine, s *Space, addr uint64) byte {
	table, _ := m.walk(s, addr)
	return m.Frames.Bytes(frameOf(*slot(m.Frames.Words(table), addr, 0)))[addr%PageSize]
}
