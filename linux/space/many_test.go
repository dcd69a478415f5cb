package space

import (
	"math/rand"
	"testing"

	"sonde/internal/quick"
)

// The cached knowledge about gaps never changes which address is chosen.
func TestTheHighestGapIsFound(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	rnd := rand.New(rand.NewSource(1))
	type piece struct{ at, n uint64 }
	var all []piece
	for i := range 6000 {
		n := uint64(1+rnd.Intn(4)) * PageSize
		if k := rnd.Intn(max(len(all), 1)); len(all) > 0 && rnd.Intn(5) < 2 {
			must(t, s.Unmap(all[k].at, all[k].n))
			all[k] = all[len(all)-1]
			all = all[:len(all)-1]
			continue
		}
		want, err := s.search(n, s.mmapTop)
		must(t, err)
		at, err := s.Map(0, n, []Prot{Read, Write, Exec}[rnd.Intn(3)], 0, nil, 0)
		if err != nil || at != want {
			t.Fatalf("piece %d, %d bytes: at %#x, %v, want %#x", i, n, at, err, want)
		}
		all = append(all, piece{at, n})
		if rnd.Intn(50) == 0 {
			child, err := s.Fork()
			must(t, err)
			s.Release()
			s = child
		}
	}
	for _, p := range all {
		must(t, s.Unmap(p.at, p.n))
	}
	if len(s.Areas()) != 0 || s.Usage().Total != 0 {
		t.Error(s.Areas())
	}
}

// A program with the largest number of areas took minutes when each Map searched all areas and
// moved most of them. It takes well under a second now.
func TestManyAreasAreFast(t *testing.T) {
	m := newMachine(t, 0)
	s := m.space()
	n := 0
	quick.Do(t, func() {
		for ; ; n++ {
			if _, err := s.Map(0, PageSize, []Prot{Read, Write}[n%2], 0, nil, 0); err != nil {
				break
			}
		}
	})
	if n < maxAreas-4 {
		t.Errorf("%d areas", n)
	}
}

// TestLockedBytesAreCounted: a forked space has none.
func TestLockedBytesAreCounted(t *testing.T) {
	s := newMachine(t, 0).space()
	at, err := s.Map(0, 4*PageSize, Read|Write, 0, nil, 0)
	must(t, err)
	must(t, s.Mark(at+PageSize, at+3*PageSize, Locked, 0, false))
	if got := s.Usage().Locked; got != 2*PageSize {
		t.Errorf("%d bytes are locked", got)
	}
	child, err := s.Fork()
	must(t, err)
	if got := child.Usage().Locked; got != 0 {
		t.Errorf("%d bytes of a child are locked", got)
	}
}
