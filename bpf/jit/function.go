package jit

import (
	"fmt"
	"math/bits"
	"sort"

	"sonde/bpf"
)

const (
	// MaxStack is how many bytes of stack one function of a program can have.
	MaxStack = 512
	// MaxFrames is how many functions of a program can be in progress at once.
	MaxFrames = 8
)

// all is R6 to R9, as a set of registers by their numbers.
const all uint16 = 0x3C0

// function is a function of the program: the instructions from entry to end.
type function struct {
	entry, end int
	loaded     bool   // its address is loaded
	calls      []int  // the functions that it calls
	uses       uint16 // the registers that its instructions name
	reads      uint16 // the registers that it reads before it writes them
	helpers    bool   // it calls some that are Go functions

	keeps, saves              uint16 // of R6 to R9: its caller's, and its own while a helper runs
	stackAt, keepsAt, savesAt int32  // where these areas end in the frame, from BP
	size                      int    // of the frame below BP
}

// prepare finds the functions, resolves what instructions refer to, and checks all that code
// cannot be made of.
func (c *compiler) prepare() error {
	if err := c.split(); err != nil {
		return err
	}
	c.after, c.target = make([]uint16, len(c.p.Insns)), make([]bool, len(c.p.Insns))
	for i := range c.functions {
		if err := c.scan(&c.functions[i]); err != nil {
			return err
		}
		c.live(&c.functions[i])
	}
	for _, load := range c.p.Ctx {
		if err := c.moveLoad(load); err != nil {
			return err
		}
	}
	for i := range c.functions {
		c.layout(&c.functions[i], c.p.Stack[i])
	}
	c.labels = make([]int, len(c.p.Insns)+1+2*len(c.functions))
	return nil
}

// split finds the functions.
//
// Errors: those of bpf.Check; Stack does not fit the functions.
func (c *compiler) split() error {
	if len(c.p.Insns) == 0 {
		return fmt.Errorf("the program has no instructions: expected at least exit")
	}
	entries := map[int]bool{0: false} // and whether the address is loaded
	for pc, in := range c.p.Insns {
		if c.inside(pc) {
			continue
		}
		if err := bpf.Check(c.p.Insns, pc); err != nil {
			return err
		}
		loads := in.IsWide() && in.Src() == bpf.Function
		if !loads && (in.Class() != bpf.JMP || in.Operation() != bpf.Call || in.Src() != bpf.CallLocal) {
			continue
		}
		entry := pc + 1 + in.Distance()
		if !c.begins(entry) {
			return c.failure(pc, "there is no function at %d: no instruction begins there", entry)
		}
		if entry == 0 {
			return c.failure(pc, "calls the first function, which only the kernel can call")
		}
		entries[entry] = entries[entry] || loads
	}
	return c.addFunctions(entries)
}

func (c *compiler) addFunctions(entries map[int]bool) error {
	for entry, loaded := range entries {
		c.functions = append(c.functions, function{entry: entry, loaded: loaded})
	}
	sort.Slice(c.functions, func(i, j int) bool { return c.functions[i].entry < c.functions[j].entry })
	for i := range c.functions {
		c.functions[i].end = len(c.p.Insns)
		if i > 0 {
			c.functions[i-1].end = c.functions[i].entry
		}
	}
	if len(c.p.Stack) != len(c.functions) {
		return fmt.Errorf("the program has %d functions, and the stack of %d is known", len(c.functions), len(c.p.Stack))
	}
	for i, n := range c.p.Stack {
		if n < 0 || n > MaxStack {
			return fmt.Errorf("the function at %d takes %d bytes of stack: expected 0 to %d", c.functions[i].entry, n, MaxStack)
		}
	}
	return nil
}

// inside tells whether pc is the second half of a 64-bit load. Only a first half has its opcode,
// since the opcode of a second half is 0.
func (c *compiler) inside(pc int) bool { return pc > 0 && c.p.Insns[pc-1].IsWide() }

// begins tells whether an instruction begins at pc.
func (c *compiler) begins(pc int) bool { return pc >= 0 && pc < len(c.p.Insns) && !c.inside(pc) }

// functionAt returns the number of the function that begins at entry.
func (c *compiler) functionAt(entry int) int {
	return sort.Search(len(c.functions), func(i int) bool { return c.functions[i].entry >= entry })
}

// layout lays out the frame of a function with that many bytes of stack.
func (c *compiler) layout(f *function, stack int) {
	if f.entry != 0 {
		f.keeps = f.uses & all
	}
	if f.helpers {
		f.saves = f.uses & all
		if f.entry != 0 {
			f.keeps = all // helpers change them
		}
	}
	if c.inFrame {
		f.stackAt = linkAt
	}
	if f.entry == 0 && c.tails {
		f.stackAt = leftAt
	}
	f.keepsAt = f.stackAt - int32(stack+word-1)/word*word
	f.savesAt = f.keepsAt - int32(word*bits.OnesCount16(f.keeps))
	f.size = int(-f.savesAt) + word*bits.OnesCount16(f.saves)
	if f.helpers {
		f.size += spill
	}
}

// stack returns how many bytes the deepest calls of functions take.
func (c *compiler) stack() int {
	need := make([]int, len(c.functions))
	for range MaxFrames {
		next := make([]int, len(need))
		for i, f := range c.functions {
			for _, callee := range f.calls {
				next[i] = max(next[i], word+need[callee])
			}
			next[i] += word + f.size
		}
		need = next
	}
	return need[0]
}
