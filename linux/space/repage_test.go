package space

import (
	"errors"
	"syscall"
	"testing"
)

func TestRepage(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(high, 4*PageSize, Read|Write, Fixed|Shared, nil, 0)
	must(t, err)
	for i := range uint64(4) {
		must(t, s.Store32(at+i*PageSize, uint32(i)))
	}
	for i := range uint64(4) { // in the reverse order
		must(t, s.Repage(at+i*PageSize+5, PageSize+7, 3-i))
	}
	for i := range uint64(4) {
		if v, err := s.Load32(at + i*PageSize); err != nil || v != uint32(3-i) {
			t.Errorf("page %d: %d, %v", i, v, err)
		}
	}
	must(t, s.Repage(at, 4*PageSize, 0))
	if v, err := s.Load32(at + PageSize); err != nil || v != 1 || len(s.Areas()) != 1 {
		t.Error(v, err, s.Areas())
	}
	private, err := s.Map(high+16*PageSize, 4*PageSize, Read, Fixed, nil, 0)
	must(t, err)
	must(t, s.Protect(at+2*PageSize, PageSize, Read))
	for what, err := range map[string]error{
		"nothing":         s.Repage(at-PageSize, PageSize, 0),
		"beyond the end":  s.Repage(at+3*PageSize, 2*PageSize, 0),
		"private":         s.Repage(private, PageSize, 0),
		"two protections": s.Repage(at, 4*PageSize, 0),
		"no bytes":        s.Repage(at, PageSize-1, 0),
		"too many bytes":  s.Repage(at, ^uint64(0), 0),
		"too far":         s.Repage(at, PageSize, unlimited/PageSize),
	} {
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.Release()
	m.empty()
}

// TestNoOther: a mapping keeps its pages, and can be moved and made smaller.
func TestNoOther(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(high, 2*PageSize, Read|Write, Fixed|Shared|NoOther, nil, 0)
	must(t, err)
	for what, move := range map[string]func() error{
		"in place":  func() error { _, err := s.Remap(at, 2*PageSize, 3*PageSize, Stay, 0); return err },
		"elsewhere": func() error { _, err := s.Remap(at, 2*PageSize, 3*PageSize, MayMove, 0); return err },
		"a part":    func() error { _, err := s.Remap(at, PageSize, 2*PageSize, MoveTo, high+64*PageSize); return err },
	} {
		if err := move(); !errors.Is(err, syscall.EFAULT) {
			t.Errorf("larger, %s: %v", what, err)
		}
	}
	if err := s.Repage(at, PageSize, 1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("other pages: %v", err)
	}
	at, err = s.Remap(at, 2*PageSize, PageSize, MoveTo, high+64*PageSize)
	must(t, err)
	if err := s.Repage(at, PageSize, 1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("other pages, moved: %v", err)
	}
	s.Release()
	m.empty()
}
