package vfs

import (
	"math/rand/v2"
	"testing"
)

// model is a file of a few bytes, with what each owner has of each byte: 0, shared, exclusive.
const (
	modelBytes  = 12 // the last one stands for all that follow
	modelOwners = 3
)

type model [modelOwners][modelBytes]int

func (m *model) conflict(r Record, owner, last int) bool {
	for o := range m {
		for b := int(r.First); b <= last; b++ {
			if o != owner && m[o][b] != 0 && (m[o][b] == 2 || r.Exclusive) {
				return true
			}
		}
	}
	return false
}

// runs counts the runs of bytes with equal locks: the length that a list must have.
func (m *model) runs() (n int) {
	for o := range m {
		for b := range m[o] {
			if m[o][b] != 0 && (b == 0 || m[o][b-1] != m[o][b]) {
				n++
			}
		}
	}
	return n
}

// has returns the lock that an owner has on a byte according to the list; two locks fail the test.
func (l recordList) has(t *testing.T, owner int, b int64) (kind int) {
	t.Helper()
	for _, r := range l {
		if r.Owner == owner && r.First <= b && b <= r.Last {
			if kind != 0 {
				t.Fatalf("owner %d has byte %d twice: %v", owner, b, l)
			}
			kind = 1
			if r.Exclusive {
				kind = 2
			}
		}
	}
	return kind
}

// TestRecordsOfBytes compares the list with a model that stores each byte separately, over random
// locks, unlocks, upgrades and downgrades.
func TestRecordsOfBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var m model
	var l recordList
	for step := range 50000 {
		first, last := rnd.IntN(modelBytes), rnd.IntN(modelBytes)
		if first > last {
			first, last = last, first
		}
		owner, kind := rnd.IntN(modelOwners), rnd.IntN(3)
		r := Record{First: int64(first), Last: int64(last), Exclusive: kind == 2, Owner: owner}
		if last == modelBytes-1 {
			r.Last = ToEnd
		}
		if kind != 0 {
			if got, want := len(l.conflicts(r)) > 0, m.conflict(r, owner, last); got != want {
				t.Fatalf("step %d: %v in %v: conflict %v, want %v", step, r, l, got, want)
			} else if got {
				continue
			}
			l = l.with(r)
		} else {
			l = l.without(r)
		}
		for b := first; b <= last; b++ {
			m[owner][b] = kind
		}
		for o := range m {
			for b := range m[o] {
				if got := l.has(t, o, int64(b)); got != m[o][b] {
					t.Fatalf("step %d: owner %d, byte %d: %d, want %d in %v", step, o, b, got, m[o][b], l)
				}
			}
		}
		if len(l) != m.runs() {
			t.Fatalf("step %d: %d locks, want %d: %v", step, len(l), m.runs(), l)
		}
	}
}

// TestRecordsAtTheEnds: there is no byte before the first one, and none after the last.
func TestRecordsAtTheEnds(t *testing.T) {
	var l recordList
	l = l.with(Record{First: ToEnd, Last: ToEnd, Owner: 1})
	l = l.with(Record{First: 0, Last: 0, Owner: 1})
	if len(l) != 2 {
		t.Errorf("the two ends are one: %v", l)
	}
	l = l.with(Record{First: 1, Last: ToEnd - 1, Owner: 1})
	if len(l) != 1 || l[0].First != 0 || l[0].Last != ToEnd {
		t.Errorf("neighbours are not one: %v", l)
	}
	if l = l.without(Record{First: 0, Last: ToEnd, Owner: 1}); len(l) != 0 {
		t.Errorf("left: %v", l)
	}
}
