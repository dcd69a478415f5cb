package space

import (
	"errors"
	"syscall"
	"testing"
)

func TestTooManyAreas(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	_, err := s.Map(high, maxAreas*2*PageSize, Read, Fixed|NoReserve, nil, 0)
	must(t, err)
	n := uint64(0)
	for ; n < maxAreas; n++ {
		if err = s.Protect(high+(2*n+1)*PageSize, PageSize, Write); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOMEM) || len(s.Areas()) > maxAreas || len(s.Areas()) < maxAreas-4 {
		t.Fatal(err, len(s.Areas()))
	}
	low := uint64(high - 16*maxAreas*PageSize)
	for i := uint64(0); len(s.Areas()) < maxAreas; i++ {
		_, err = s.Map(low+2*i*PageSize, PageSize, Exec, Fixed, nil, 0)
		must(t, err)
	}
	_, err = s.Map(0, PageSize, Exec, 0, nil, 0)
	wants(t, s, err, syscall.ENOMEM, maxAreas)
	end := high + uint64(maxAreas)*2*PageSize
	wants(t, s, s.Unmap(end-20*PageSize, PageSize), syscall.ENOMEM, maxAreas) // would split one
	must(t, s.Unmap(high, 3*PageSize))                                        // splits none: used to be refused, too
	if n := len(s.Areas()); n != maxAreas-3 {
		t.Error(n)
	}
}

func TestLimitOfTheSpace(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	s.SetLimits(Limits{AS: 10 * PageSize, Data: unlimited, Stack: unlimited})
	at, err := s.Map(0, 10*PageSize, Read, 0, nil, 0)
	must(t, err)
	_, err = s.Map(0, 1, Read, 0, nil, 0)
	wants(t, s, err, syscall.ENOMEM, 1)
	_, err = s.Map(at, 10*PageSize, Write, Fixed, nil, 0) // replacing needs none
	must(t, err)
	_, err = s.Remap(at, 10*PageSize, 11*PageSize, MayMove, 0)
	wants(t, s, err, syscall.ENOMEM, 1)
	must(t, s.Unmap(at, PageSize))
	_, err = s.Map(0, 1, Read, 0, nil, 0)
	must(t, err)
}

// TestKernelsPagesCountAgainstNoLimit: a program at its limit gets them, and has as much room with them as without,
// wherever they are, move or are replaced, and so does its child.
func TestKernelsPagesCountAgainstNoLimit(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	s.SetLimits(Limits{AS: 10 * PageSize, Data: unlimited, Stack: unlimited})
	_, err := s.Map(high, 10*PageSize, Read, Fixed, nil, 0)
	must(t, err)
	const own = high + 64*PageSize
	for at := uint64(own); at < own+3*PageSize; at += PageSize {
		_, err = s.Map(at, PageSize, Read|Exec, NoReplace|OfKernel, m.file(1), 0)
		must(t, err)
	}
	child, err := s.Fork()
	must(t, err)
	for _, s := range []*Space{s, child} {
		_, err = s.Map(0, PageSize, Read, 0, nil, 0)
		wants(t, s, err, syscall.ENOMEM, 4)
		must(t, s.Unmap(high, PageSize))
		must(t, s.Unmap(own+PageSize, PageSize))
		_, err = s.Remap(own, PageSize, PageSize, MoveTo, own+9*PageSize)
		must(t, err)
		_, err = s.Map(own+9*PageSize, PageSize, Write, Fixed, nil, 0) // in its place, and the page that was free
		must(t, err)
		if b := byteAt(t, s, own+9*PageSize); b != 0 {
			t.Errorf("the kernel's page is still there: %#x", b)
		}
		_, err = s.Map(0, PageSize, Read, 0, nil, 0)
		wants(t, s, err, syscall.ENOMEM, 3)
		if u := s.Usage(); u.Total != 10*PageSize {
			t.Errorf("%d bytes", u.Total)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	m := newMachine(t, 2<<20)
	s := m.space()
	at, err := s.Map(0, 4<<20, Read|Write, 0, nil, 0)
	must(t, err)
	n := uint64(0)
	for ; err == nil; n++ {
		err = s.Fault(at+n*PageSize, Write)
	}
	if !errors.Is(err, ErrNoMemory) || n < 480 {
		t.Fatal(n, err)
	}
	if _, err := m.New(); !errors.Is(err, ErrNoMemory) {
		t.Error("New:", err)
	}
	if _, err := s.Fork(); !errors.Is(err, ErrNoMemory) {
		t.Error("Fork:", err)
	}
	must(t, s.Discard(at, 2<<20))
	must(t, s.Fault(at+n*PageSize, Write))
	s.Release()
	m.empty()
}
