// Package notifier is the chain that decides which part of the kernel takes an
// exception: what kprobes.txt §1.1 calls notifier_call_chain.
//
// Blocks are called in order of priority; the first that returns Stop has taken the
// exception. The chain is an immutable slice that one atomic pointer leads to, so walking it takes
// no lock, and changing it does not disturb a trap in progress.
package notifier

// Trap context. Walk is called for every exception.

import (
	"sync"
	"sync/atomic"

	"sonde/arch/amd64"
)

// Action is a block's answer.
type Action uint8

const (
	Next Action = iota // not mine: ask the next (NOTIFY_DONE)
	Stop               // taken (NOTIFY_STOP)
)

// Block is one member of a chain.
type Block struct {
	Name     string
	Priority int // higher is asked first
	// Call looks at an exception: r.Vector says which; addr is the faulting
	// address of a #PF. Context: trap.
	Call func(r *amd64.Regs, addr uint64) Action
}

// Chain is a list of blocks. The zero Chain is empty.
type Chain struct {
	blocks atomic.Pointer[[]*Block]
	mu     sync.Mutex // serializes writers
}

// Die holds the chain of every exception: #BP, #DB, #PF, #GP and the others. One
// each, because most takers want one, and #BP should not wait for the rest.
var Die [amd64.Exceptions]Chain

// Walk asks the blocks of c until one takes the exception.
//
// Context: trap.
func (c *Chain) Walk(r *amd64.Regs, addr uint64) Action {
	blocks := c.blocks.Load()
	if blocks == nil {
		return Next
	}
	for _, b := range *blocks {
		if b.Call(r, addr) == Stop {
			return Stop
		}
	}
	return Next
}
