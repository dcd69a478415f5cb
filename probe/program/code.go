package program

import (
	"sync"
	"syscall"

	"sonde/kernel/refusal"
)

// unit is what executable memory is given out in, in bytes: a cache line.
const unit = 64

// pool is executable memory, in pieces of several units.
type pool struct {
	start uintptr

	mu sync.Mutex
	// guarded by mu:
	used []bool // each unit
}

func newPool(start, end uintptr) *pool {
	return &pool{start: start, used: make([]bool, (end-start)/unit)}
}

// units is how many a piece of n bytes has.
func units(n int) int { return (n + unit - 1) / unit }

// take returns n bytes.
//
// Errors: ENOMEM.
func (p *pool) take(n int) (uintptr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	free := 0
	for i, used := range p.used {
		if free++; used {
			free = 0
		}
		if free == units(n) {
			first := i + 1 - free
			p.mark(first, free, true)
			return p.start + uintptr(first)*unit, nil
		}
	}
	return 0, refusal.New(syscall.ENOMEM, "no room for %d bytes of machine code: %d bytes are for all programs", n, len(p.used)*unit)
}

// put takes back n bytes that nothing executes any more.
func (p *pool) put(at uintptr, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark(int(at-p.start)/unit, units(n), false)
}

func (p *pool) mark(first, n int, used bool) {
	for i := range n {
		p.used[first+i] = used
	}
}
