package program

import (
	"sync/atomic"

	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
)

// Pages is memory of the arena that programs of ring 3 can map: of a map, or the ring of a perf event.
type Pages struct {
	Mem   []byte
	Name  string // in /proc/PID/maps
	Inode uint64
	// Once is how many pages are there once, and those after twice in a row; 0: all are there once.
	Once uint64
	// Gone is called when the last mapping has ended; nil: nothing is.
	Gone func()

	holds atomic.Int64
}

// NewPages returns n bytes, cleared, in whole pages. FreePages takes them back.
//
// Errors: ENOMEM.
func NewPages(n int) ([]byte, error) { return memory.alloc(n) }

// FreePages takes back what NewPages has returned. What programs have mapped is kept until it is out of
// their tables.
func FreePages(mem []byte) { memory.free(mem) }

// Frame implements backing.Store.
func (p *Pages) Frame(page uint64) (frame.Frame, error) {
	n := uint64(len(p.Mem)) / pageSize
	if p.Once > 0 && page >= n && page < 2*n-p.Once {
		page -= n - p.Once
	}
	if page >= n {
		return frame.None, backing.ErrBus
	}
	return frameAt(p.Mem[page*pageSize:])
}

// Hold implements backing.Store.
func (p *Pages) Hold() { p.holds.Add(1) }

// Drop implements backing.Store.
func (p *Pages) Drop() {
	if p.holds.Add(-1) == 0 && p.Gone != nil {
		p.Gone()
	}
}

// Ident implements backing.Store.
func (p *Pages) Ident() backing.Ident { return backing.Ident{Name: p.Name, Dev: 1, Inode: p.Inode} }
