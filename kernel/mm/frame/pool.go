package frame

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Pool gives out the frames of one Source.
type Pool struct {
	source Source
	// table has the block of each 2 MiB of physical memory, by its number; nil if the memory is not
	// this pool's. It is replaced when it grows, under mu.
	table  atomic.Pointer[[]atomic.Pointer[block]]
	zeroes atomic.Uint64 // the Frame that Zeroes returns; never put

	mu sync.Mutex
	// guarded by mu:
	partial []*block // those with free frames
	blocks  int
	free    int // frames
	taken   uint64
	failed  uint64
}

// NewPool makes a Pool without blocks.
func NewPool(s Source) *Pool {
	p := &Pool{source: s}
	p.table.Store(new([]atomic.Pointer[block]))
	return p
}

// Alloc returns a frame of zeroes with one reference.
//
// Errors: ErrNoMemory.
func (p *Pool) Alloc() (Frame, error) {
	f, err := p.AllocDirty()
	if err == nil {
		Clear(p.Bytes(f))
	}
	return f, err
}

// AllocDirty is Alloc without zeroing, for a caller that writes the whole frame before it can be
// read.
func (p *Pool) AllocDirty() (Frame, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.partial) == 0 {
		if err := p.grow(); err != nil {
			p.failed++
			return None, err
		}
	}
	b := p.partial[len(p.partial)-1]
	i := b.take()
	if b.nfree == 0 {
		p.leave(b)
	}
	p.free--
	p.taken++
	b.refs[i].Store(1)
	return Frame(b.pa + uint64(i)*Size), nil
}

// Ref adds a reference to f, of which the caller has one.
//
// Context: any.
func (p *Pool) Ref(f Frame) {
	if n := p.refs(f).Add(1); n <= 1 {
		p.refs(f).Add(-1) // a panic may end only a program: then the frame stays free
		panic(fmt.Sprintf("frame: reference to %#x, which is free", uint64(f)))
	}
}

// Put removes a reference. The last Put frees the frame.
func (p *Pool) Put(f Frame) {
	b, i := p.find(f)
	switch n := b.refs[i].Add(-1); {
	case n > 0:
		return
	case n < 0:
		b.refs[i].Add(1)
		panic(fmt.Sprintf("frame: %#x is put too often", uint64(f)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b.put(i)
	p.free++
	switch {
	case b.nfree == 1:
		b.place = len(p.partial)
		p.partial = append(p.partial, b)
	case b.nfree == perBlock && p.free >= 2*perBlock:
		p.shrink(b)
	}
}

// Refs returns the number of references to f. If the caller has the only one and shares it with
// no one else, the result stays 1.
//
// Context: any.
func (p *Pool) Refs(f Frame) int { return int(p.refs(f).Load()) }

// Bytes returns the memory of f, to which the caller has a reference.
//
// Context: any.
func (p *Pool) Bytes(f Frame) []byte { return p.page(f)[:] }

// Peek returns the memory of f, or nil if f is not a frame of p. The caller needs no reference: but
// then the memory may be reused meanwhile.
//
// Context: any.
func (p *Pool) Peek(f Frame) *[Size]byte {
	b := p.block(f)
	if b == nil {
		return nil
	}
	return &b.pages[f%BlockSize/Size]
}

// Words returns the memory of f as the entries of a page table.
//
// Context: any.
func (p *Pool) Words(f Frame) *[Size / 8]uint64 {
	return (*[Size / 8]uint64)(unsafe.Pointer(p.page(f))) // Safe because: frames are aligned
}

// Owns reports whether f is an allocated frame of p.
//
// Context: any.
func (p *Pool) Owns(f Frame) bool {
	b := p.block(f)
	return b != nil && b.refs[f%BlockSize/Size].Load() > 0
}

// Stats are counts of frames, except Blocks.
type Stats struct {
	Blocks int    // taken from the source
	Used   int    // with references, except that of zeroes
	Free   int    // in blocks, without references
	Taken  uint64 // since boot
	Failed uint64 // refusals since boot
}

// Stats returns the pool's counts.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.blocks*perBlock - p.free
	if p.zeroes.Load() != 0 {
		used--
	}
	return Stats{p.blocks, used, p.free, p.taken, p.failed}
}

// Zeroes returns a frame of zeroes that nothing may write to. It is shared and never freed:
// references to it need not be counted.
//
// Errors: ErrNoMemory.
func (p *Pool) Zeroes() (Frame, error) {
	if f := p.zeroes.Load(); f != 0 {
		return Frame(f), nil
	}
	f, err := p.Alloc()
	if err == nil && !p.zeroes.CompareAndSwap(0, uint64(f)) {
		p.Put(f) // another CPU was faster
	}
	return Frame(p.zeroes.Load()), err
}

// IsZeroes reports whether f is the frame that Zeroes returns.
//
// Context: any.
func (p *Pool) IsZeroes(f Frame) bool { return f != None && uint64(f) == p.zeroes.Load() }

// page is the memory of f. It is small enough to be inlined.
func (p *Pool) page(f Frame) *page {
	b := p.block(f)
	if b == nil {
		p.find(f) // panics
	}
	return &b.pages[f%BlockSize/Size]
}

func (p *Pool) refs(f Frame) *atomic.Int32 {
	b, i := p.find(f)
	return &b.refs[i]
}

// find returns the block of f and the number in it. It panics if f is not a frame of p, which is a
// bug of the caller.
func (p *Pool) find(f Frame) (*block, int) {
	b := p.block(f)
	if b == nil {
		panic(fmt.Sprintf("frame: %#x is not a frame", uint64(f)))
	}
	return b, int(f % BlockSize / Size)
}

func (p *Pool) block(f Frame) *block {
	t := *p.table.Load()
	if n := uint64(f / BlockSize); n < uint64(len(t)) {
		return t[n].Load()
	}
	return nil
}
