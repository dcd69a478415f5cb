package frame

import "sync/atomic"

// These functions are called with mu held.

// grow takes a block from the source.
func (p *Pool) grow() error {
	mem, pa, err := p.source.Take()
	if err != nil {
		return err
	}
	if len(mem) != BlockSize || pa%BlockSize != 0 || pa == 0 || p.block(Frame(pa)) != nil {
		return errSource
	}
	b := newBlock(mem, pa)
	p.note(pa/BlockSize, b)
	b.place = len(p.partial)
	p.partial = append(p.partial, b)
	p.blocks++
	p.free += perBlock
	return nil
}

// note stores b under number n, in a larger table if necessary. A concurrent reader of the old
// table looks up frames that were given out before, which are in both.
func (p *Pool) note(n uint64, b *block) {
	t := *p.table.Load()
	if n >= uint64(len(t)) {
		larger := make([]atomic.Pointer[block], max(n+1, 2*uint64(len(t))))
		for i := range t {
			larger[i].Store(t[i].Load())
		}
		p.table.Store(&larger)
		t = larger
	}
	t[n].Store(b)
}

// leave removes b from partial.
func (p *Pool) leave(b *block) {
	last := len(p.partial) - 1
	p.partial[b.place] = p.partial[last]
	p.partial[b.place].place = b.place
	p.partial[last] = nil
	p.partial = p.partial[:last]
	b.place = -1
}

// shrink returns b, which must be completely free, to the source.
func (p *Pool) shrink(b *block) {
	p.leave(b)
	p.note(b.pa/BlockSize, nil)
	p.blocks--
	p.free -= perBlock
	p.source.Give(b.mem, b.pa)
}
