package space

import (
	"errors"
	"syscall"
	"testing"
)

// TestAreasOfAllSpacesAreBounded: they are in the kernel's memory, and a fork has as many as its
// parent.
func TestAreasOfAllSpacesAreBounded(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	var err error
	for n := 0; err == nil; n++ {
		_, err = s.Map(0, PageSize, []Prot{Read, Write}[n%2], 0, nil, 0)
	}
	wants(t, s, err, syscall.ENOMEM, len(s.Areas()))
	n := int64(len(s.Areas()))
	if got := m.areas.Load(); got != n || n < maxAreas-4 {
		t.Errorf("%d areas, and %d in all", n, got)
	}
	if _, err := s.Fork(); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("fork: %v", err)
	}
	other := m.space()
	for n := 0; ; n++ {
		if _, err = other.Map(0, PageSize, []Prot{Read, Write}[n%2], 0, nil, 0); err != nil {
			break
		}
	}
	if got := m.areas.Load(); !errors.Is(err, syscall.ENOMEM) || got > m.mostAreas() || got < m.mostAreas()-4 {
		t.Errorf("%d areas in all: %v", got, err)
	}
	must(t, s.Unmap(m.Programs.Start, m.Programs.End-m.Programs.Start))
	child, err := other.Fork()
	must(t, err)
	for _, s := range []*Space{child, other, s} {
		s.Release()
	}
	if got := m.areas.Load(); got != 0 {
		t.Errorf("%d areas are left", got)
	}
}
