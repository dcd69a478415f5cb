package space

import (
	"sync"
	"sync/atomic"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

// anon is the backing of a shared area without a file: zeroes at first. It implements backing.Store.
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

// Resident reports whether a page is in memory.
func (b *anon) Resident(page uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pages[page] != frame.None
}

func (b *anon) Hold() { b.holds.Add(1) }

// Drop implements backing.Store. The last Drop frees the pages.
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

// Ident implements backing.Store: the name is Linux's.
func (b *anon) Ident() backing.Ident {
	return backing.Ident{Name: "/dev/zero (deleted)", Dev: 1, Inode: b.id}
}
