// Package stub is about code that a breakpoint leads to and that has the breakpoint's handler in it: kprobes/fuse and
// bpf/jit make it. It counts the hit, does what the handler does, and returns to ring 3; no Go is called. It runs with
// interrupts off, so that a CPU that has taken an interrupt since is in none.
//
// It looks for no keys. The memory of a removed key is used again after a grace period, and a CPU in ring 3 counts as
// passed, also in this code. It would have to say otherwise by an instruction with a barrier at its beginning, as hits
// do that call Go, and NMIs take what that says for the kernel's FS. Counters and arrays need no grace period: whoever
// takes the program away interrupts each CPU.
package stub

import (
	"errors"
	"fmt"
	"math"

	"sonde/arch/amd64/prologue"
	"sonde/probe/attach"
	"sonde/probe/ledger"
	"sonde/uprobes/machine"
	"sonde/uprobes/place"
)

// A Stub is such code.
type Stub struct {
	Code uintptr // 0: there is none, and Why is the reason
	Why  error
	give func()
}

// At is where it is needed.
type At struct {
	Plan  *place.Plan
	Slot  uint64 // of the copy, if the plan has one
	Check prologue.Check
}

// Make compiles a handler for a place. Hits count with c.
func Make(m *machine.Machine, h attach.Fuser, at At, c *ledger.Counter) *Stub {
	s := new(Stub)
	moves, err := at.moves()
	if err == nil {
		count, e := c.Fused()
		if err = e; err == nil {
			s.Code, s.give, err = m.Stub(h, at.Plan.Addr, int32(count), moves)
		}
	}
	s.Why = err
	return s
}

// moves is how many bytes after its breakpoint a hit continues.
//
// Errors: why the code cannot get the instruction done.
func (at *At) moves() (int32, error) {
	next := at.Plan.Next()
	switch {
	case at.Check.Kind != prologue.None:
		return 0, errors.New("a stack check of Go is decided there")
	case at.Plan.Way == place.Boost:
		next = at.Slot
	case at.Plan.Way != place.Nothing:
		return 0, fmt.Errorf("the instruction is %v", at.Plan.Way)
	}
	n := int64(next - (at.Plan.Addr + 1))
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 0, errors.New("the copy of the instruction is too far away")
	}
	return int32(n), nil
}

// Drop gives back the memory of s, which may be nil. No hit finds it, and no CPU is in it.
func (s *Stub) Drop() {
	if s != nil && s.Code != 0 {
		s.give()
	}
}
