package notifier

import (
	"slices"

	"sonde/arch/amd64"
)

// Register adds b.
func (c *Chain) Register(b *Block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := append(c.list(), b)
	slices.SortStableFunc(list, func(a, b *Block) int { return b.Priority - a.Priority })
	c.blocks.Store(&list)
}

// OnFaults adds b to the chains of all exceptions that code causes, but #BP and #DB: not to that of NMI,
// nor of #MC, after which nothing can be relied on.
//
// Context: boot, goroutine.
func OnFaults(b *Block) {
	for v := range Die {
		if v != amd64.VEC_BP && v != amd64.VEC_DB && v != amd64.VEC_NMI && v != amd64.VEC_MC {
			Die[v].Register(b)
		}
	}
}

// Unregister removes b. A walk already under way may still call it.
func (c *Chain) Unregister(b *Block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(c.list(), func(x *Block) bool { return x == b })
	c.blocks.Store(&list)
}

// list returns a copy of the chain.
func (c *Chain) list() []*Block {
	if p := c.blocks.Load(); p != nil {
		return slices.Clone(*p)
	}
	return nil
}
