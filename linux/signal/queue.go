package signal

import (
	"math/bits"
	"slices"

	"sonde/kernel/abi"
)

// Queue holds the signals that wait to be delivered. The zero value is empty.
type Queue struct {
	set   Set
	infos []abi.Siginfo // in the order of arrival
}

// Set returns which signals wait.
func (q *Queue) Set() Set { return q.set }

// Len returns how many wait.
func (q *Queue) Len() int { return len(q.infos) }

// Add lets a signal wait and reports whether it was added: of one that is not a
// realtime signal there is only one at a time, and the first says why it came.
func (q *Queue) Add(info *abi.Siginfo) bool {
	n := int(info.Signo)
	if q.set.Has(n) && !Realtime(n) {
		return false
	}
	q.set |= One(n)
	q.infos = append(q.infos, *info)
	return true
}

// Find returns the first one that waits and fits, to be changed; nil if there is none.
func (q *Queue) Find(fits func(*abi.Siginfo) bool) *abi.Siginfo {
	for i := range q.infos {
		if fits(&q.infos[i]) {
			return &q.infos[i]
		}
	}
	return nil
}

// Next returns the signal that Take would take.
func (q *Queue) Next(blocked Set) (n int, ok bool) {
	ready := q.set &^ blocked
	if ready == 0 {
		return 0, false
	}
	if first := ready & synchronous; first != 0 {
		ready = first
	}
	return bits.TrailingZeros64(uint64(ready)) + 1, true
}

// Take removes the next signal that is not blocked, and stores it in info: those that an
// instruction caused first, then by number, then by arrival.
func (q *Queue) Take(blocked Set, info *abi.Siginfo) (ok bool) {
	n, ok := q.Next(blocked)
	if !ok {
		return false
	}
	i := 0
	for int(q.infos[i].Signo) != n {
		i++
	}
	*info = q.infos[i]
	if len(q.infos) == 1 { // the usual case, in fewer instructions
		q.infos, q.set = q.infos[:0], 0
		return true
	}
	q.infos = slices.Delete(q.infos, i, i+1)
	if q.Find(func(s *abi.Siginfo) bool { return int(s.Signo) == n }) == nil {
		q.set &^= One(n)
	}
	return true
}

// Remove drops all signals of a set.
func (q *Queue) Remove(s Set) {
	if q.set&s == 0 {
		return
	}
	q.set &^= s
	q.infos = slices.DeleteFunc(q.infos, func(i abi.Siginfo) bool { return s.Has(int(i.Signo)) })
}
