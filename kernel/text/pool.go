package text

import (
	"sync"

	"sonde/kernel/lock"
)

// A Pool gives out executable memory in pieces of one size: slots for copies of
// instructions, detours. A piece that comes back is given out again only when it
// is out of use, because a CPU may have been interrupted in it and continue there
// later. What tells that is the caller's to say: for kernel code, a grace period.
type Pool struct {
	start, end, size uintptr
	owners           []uintptr // of each piece, what it was taken for; stays when it is given back

	mu sync.Mutex
	// guarded by mu:
	fresh    uintptr    // never given out yet, from here up
	returned []returned // oldest first
	idle     []uintptr  // given back, and out of use
	used     int
}

// An InUse tells whether what was in use at a moment still may be.
type InUse interface {
	// Passed reports that it is out of use. Context: goroutine.
	Passed() bool
}

type returned struct {
	piece uintptr
	since InUse
	keep  any
}

// NewPool makes a Pool of the memory from start to end, in pieces of size bytes.
func NewPool(start, end, size uintptr) *Pool {
	return &Pool{start: start, end: end, size: size, fresh: start, owners: make([]uintptr, (end-start)/size)}
}

// Take gives out a piece for the code at owner. False: all are in use.
func (p *Pool) Take(owner uintptr) (piece uintptr, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	piece, ok = p.next()
	switch {
	case !ok:
		return 0, false
	case len(p.idle) > 0:
		p.idle = p.idle[:len(p.idle)-1]
	default:
		p.fresh += p.size
	}
	p.used++
	p.owners[(piece-p.start)/p.size] = owner
	return piece, true
}

// Next returns the piece that Take would give out, without taking it.
func (p *Pool) Next() (piece uintptr, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next()
}

// next looks for a piece, first where memory is in use already. Called with mu held.
func (p *Pool) next() (piece uintptr, ok bool) {
	if len(p.idle) == 0 {
		p.reap()
	}
	switch {
	case len(p.idle) > 0:
		return p.idle[len(p.idle)-1], true
	case p.fresh+p.size <= p.end:
		return p.fresh, true
	}
	return 0, false
}

// Put takes a piece back that is not entered any more; since tells when no CPU is
// in it. keep is what code in the piece refers to: it is not freed before.
func (p *Pool) Put(piece uintptr, since InUse, keep any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	p.returned = append(p.returned, returned{piece, since, keep})
}

// Reap forgets what was kept for pieces that are out of use by now, and returns
// how many are not.
func (p *Pool) Reap() (waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reap()
	return len(p.returned)
}

// reap is Reap. Called with mu held.
func (p *Pool) reap() {
	n := 0
	for n < len(p.returned) && (n > 0 && p.returned[n].since == p.returned[n-1].since || p.returned[n].since.Passed()) {
		p.idle = append(p.idle, p.returned[n].piece)
		n++
	}
	clear(p.returned[:n])
	if p.returned = p.returned[n:]; len(p.returned) == 0 {
		p.returned = nil
	}
}

// Used returns how many pieces are given out.
func (p *Pool) Used() int { return lock.Get(&p.mu, &p.used) }

// Start and End are the bounds of the memory.
//
// Context: any.
func (p *Pool) Start() uintptr { return p.start }

// End is after the last byte.
//
// Context: any.
func (p *Pool) End() uintptr { return p.end }

// Contains reports whether addr is in a piece.
//
// Context: any.
func (p *Pool) Contains(addr uintptr) bool { return addr >= p.start && addr < p.end }

// Find returns the piece that addr is in, which Contains it, and what it was last
// taken for: 0 if never.
//
// Context: any.
func (p *Pool) Find(addr uintptr) (piece, owner uintptr) {
	i := (addr - p.start) / p.size
	if i >= uintptr(len(p.owners)) {
		return 0, 0
	}
	return p.start + i*p.size, p.owners[i]
}
