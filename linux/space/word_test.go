package space

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"
)

// TestWordsAreCopies: also where two pages meet.
func TestWordsAreCopies(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	_, err := s.Map(high, 2*PageSize, Read|Write, Fixed, nil, 0)
	must(t, err)
	for _, addr := range []uint64{high, high + 1, high + PageSize - 8, high + PageSize - 7, high + PageSize - 1, high + 2*PageSize - 8} {
		v := 0x1122334455667788 ^ addr
		before, err := s.LoadWord(addr)
		must(t, err)
		old, err := s.SwapWord(addr, v)
		must(t, err)
		got, err := s.LoadWord(addr)
		must(t, err)
		_, second, err := s.LoadPair(addr - 8)
		if err != nil && addr >= high+8 {
			t.Errorf("two words at %#x: %v", addr-8, err)
		}
		var b [8]byte
		_, err = s.CopyIn(b[:], addr)
		must(t, err)
		if old != before || got != v || addr > high+7 && second != v || binary.LittleEndian.Uint64(b[:]) != v {
			t.Errorf("at %#x: %#x, %x; want %#x", addr, got, b, v)
		}
	}
	if _, err := s.SwapWord(high+2*PageSize-4, 1); err == nil {
		t.Error("half of the word is not there")
	}
	if v, _ := s.LoadWord(high + 2*PageSize - 8); v != 0x1122334455667788^(high+2*PageSize-8) {
		t.Errorf("a store that failed has left %#x", v)
	}
	for _, addr := range []uint64{high - 8, high + 2*PageSize, high + 2*PageSize - 4} {
		if _, err := s.LoadWord(addr); !errors.Is(err, ErrNotMapped) {
			t.Errorf("load at %#x: %v", addr, err)
		}
		if _, err := s.SwapWord(addr, 1); !errors.Is(err, ErrNotMapped) {
			t.Errorf("store at %#x: %v", addr, err)
		}
	}
}

// TestWordOfAnotherIsNotWritten: a shared page is copied first, and a read-only one is not written.
func TestWordOfAnotherIsNotWritten(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	_, err := s.Map(high, PageSize, Read|Write, Fixed, nil, 0)
	must(t, err)
	_, err = s.SwapWord(high, 1)
	must(t, err)
	child, err := s.Fork()
	must(t, err)
	defer child.Release()
	_, err = child.SwapWord(high, 2)
	must(t, err)
	if v, err := s.LoadWord(high); v != 1 || err != nil {
		t.Errorf("the parent has %d, %v", v, err)
	}
	must(t, s.Protect(high, PageSize, Read))
	if _, err := s.SwapWord(high, 3); !errors.Is(err, ErrAccess) {
		t.Errorf("%v", err)
	}
}

func TestStrings(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(0, PageSize, Read|Write, 0, nil, 0)
	must(t, err)
	end := at + PageSize
	if n, err := s.CopyOut(end-4, []byte("abcdef")); n != 4 || !errors.Is(err, syscall.EFAULT) {
		t.Error("CopyOut over the end:", n, err)
	}
	if n, err := s.CopyIn(make([]byte, 6), end-4); n != 4 || !errors.Is(err, syscall.EFAULT) {
		t.Error("CopyIn over the end:", n, err)
	}
	if got, err := s.CString(end-4, 100); !errors.Is(err, syscall.EFAULT) {
		t.Error("without an end:", got, err)
	}
	if got, err := s.CString(end-4, 4); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Error("too long:", got, err)
	}
	must(t, s.Clear(end-1, 1))
	if got, err := s.CString(end-4, 4); got != "abc" || err != nil {
		t.Error(got, err)
	}
	if got, err := s.CString(end-1, 1); got != "" || err != nil {
		t.Error(got, err)
	}
	for _, bad := range []uint64{0, 64 << 20, 768 << 30, 1 << 47, 1 << 63, unlimited - 3} {
		if n, err := s.CopyIn(make([]byte, 8), bad); n != 0 || !errors.Is(err, ErrNotMapped) {
			t.Errorf("CopyIn from %#x: %d, %v", bad, n, err)
		}
		if n, err := s.CopyOut(bad, make([]byte, 8)); n != 0 || !errors.Is(err, ErrNotMapped) {
			t.Errorf("CopyOut to %#x: %d, %v", bad, n, err)
		}
	}
}
