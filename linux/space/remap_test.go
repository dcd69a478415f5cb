package space

import (
	"syscall"
	"testing"
)

func TestRemap(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(high, 4*PageSize, Read|Write, Fixed, nil, 0)
	must(t, err)
	for i := range uint64(4) {
		must(t, s.Store32(at+i*PageSize, uint32(i)+1))
	}
	_, err = s.Remap(at+PageSize, 4*PageSize, 8*PageSize, MayMove, 0)
	wants(t, s, err, syscall.EFAULT, 1)
	_, err = s.Remap(at, 4*PageSize, 4*PageSize, MoveTo, at+2*PageSize)
	wants(t, s, err, syscall.EINVAL, 1)
	_, err = s.Remap(at, PageSize, 2*PageSize, Stay, 0)
	wants(t, s, err, syscall.ENOMEM, 1)
	_, err = s.Remap(at, PageSize, PageSize, MoveTo, 0xffffffff84000000)
	wants(t, s, err, syscall.ENOMEM, 1)
	if got, err := s.Remap(at, 4*PageSize, 6*PageSize, Stay, 0); err != nil || got != at || s.Usage().Total != 6*PageSize {
		t.Fatal("growing in place:", got, err)
	}
	if got, err := s.Remap(at, 6*PageSize, 3*PageSize, Stay, 0); err != nil || got != at || s.Usage().Total != 3*PageSize {
		t.Fatal("shrinking:", got, err)
	}
	// The new place shares its page table with the old one only.
	if got, err := s.Remap(at, 3*PageSize, 3*PageSize, MoveTo, at+64*PageSize); err != nil || got != at+64*PageSize {
		t.Fatal(got, err)
	}
	at += 64 * PageSize
	_, err = s.Map(at+3*PageSize, PageSize, Read, Fixed, nil, 0)
	must(t, err)
	at, err = s.Remap(at, 3*PageSize, 16*PageSize, MayMove, 0)
	must(t, err)
	for i := range uint64(4) {
		want := (i + 1) % 4
		if v, err := s.Load32(at + i*PageSize); err != nil || v != uint32(want) {
			t.Errorf("page %d: %d, %v, want %d", i, v, err, want)
		}
	}
	s.Release()
	m.empty()
}

func TestRemapLeavesTheMapping(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	at, err := s.Map(high, 2*PageSize, Read|Write, Fixed, nil, 0)
	must(t, err)
	must(t, s.Store32(at, 7))
	_, err = s.Remap(at, 2*PageSize, PageSize, MayMove|Leave, 0)
	wants(t, s, err, syscall.EINVAL, 1)
	_, err = s.Remap(at, 2*PageSize, 2*PageSize, Stay|Leave, 0)
	wants(t, s, err, syscall.EINVAL, 1)
	s.SetLimits(Limits{AS: 3 * PageSize, Data: unlimited, Stack: unlimited})
	_, err = s.Remap(at, 2*PageSize, 2*PageSize, MayMove|Leave, 0)
	wants(t, s, err, syscall.ENOMEM, 1)
	s.SetLimits(Limits{AS: unlimited, Data: unlimited, Stack: unlimited})
	for i, to := range []uint64{0, high + 64*PageSize} {
		how := []Move{MayMove, MoveTo}[i]
		must(t, s.Store32(at, 7))
		got, err := s.Remap(at, 2*PageSize, 2*PageSize, how|Leave, to)
		must(t, err)
		if got == at || to != 0 && got != to {
			t.Errorf("it is at %#x", got)
		}
		if v, _ := s.Load32(got); v != 7 {
			t.Errorf("the page is %d", v)
		}
		if v, err := s.Load32(at); v != 0 || err != nil {
			t.Errorf("the old place is %d, %v", v, err)
		}
	}
	if u := s.Usage(); u.Total != 6*PageSize {
		t.Errorf("%+v", u)
	}
	s.Release()
	m.empty()
}
