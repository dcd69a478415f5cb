package space

import (
	"sync"
	"sync/atomic"

	"sonde/kernel/mm/frame"
)

// anon is the backing of a shared area without a file: zeroes at first.
type anon struct {
	pool  *frame.Pool
	id    uint64
	holds atomic.Int64

	mu sync.Mutex
	// guarded by mu:
	pages map[uint64]frame.Frame
}

var lastAnon atomic.Uint64

func newAnon(p *frame.Pool) *anon {
	return &anon{pool: p, id: lastAnon.Add(1), pages: map[uint64]frame.Frame{}}
}

// Frame implements Backing.
func (b *anon) Frame(page uint64) (frame.Frame, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.pages[page]
	if !ok {
		var err error
		if f, err = b.pool.Alloc(); err != nil {
			return frame.None, err
		}
		b.pages[page] = f
	}
	b.pool.Ref(f)
	return f, nil
}

// Hold implements Backing.
func (b *anon) Hold() { b.holds.Add(1) }

// Drop implements Backing. The last Drop frees the pages.
func (b *anon) Drop() {
	if b.holds.Add(-1) > 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.pages {
		b.pool.Put(f)
	}
	clear(b.pages)
}

// Ident implements Backing: the name is Linux's.
func (b *anon) Ident() Ident { return Ident{"/dev/zero (deleted)", 1, b.id} }
