package jit

import (
	"fmt"

	"sonde/bpf"
)

// scan looks at each instruction of a function.
func (c *compiler) scan(f *function) error {
	last := f.entry
	for pc := f.entry; pc < f.end; pc++ {
		in := c.p.Insns[pc]
		last = pc
		f.uses |= uses(in)
		var err error
		switch {
		case writesR10(in):
			err = c.failure(pc, "writes R10, which is read-only")
		case in.IsWide():
			err = c.resolve(pc, in)
			pc++
		case in.Class() == bpf.JMP || in.Class() == bpf.JMP32:
			err = c.scanBranch(f, pc, in)
		}
		if err != nil {
			return err
		}
	}
	if op := c.p.Insns[last]; op.Class() != bpf.JMP && op.Class() != bpf.JMP32 || op.Operation() != bpf.Exit && op.Operation() != bpf.Ja {
		return c.failure(last, "goes on behind the end of the function")
	}
	return nil
}

func writesR10(in bpf.Insn) bool {
	switch in.Class() {
	case bpf.JMP, bpf.JMP32, bpf.ST:
		return false
	case bpf.STX:
		return in.Mode() == bpf.Atomic && in.Imm&bpf.Fetch != 0 && in.Imm != bpf.Cmpxchg && in.Src() == bpf.R10
	}
	return in.Dst() == bpf.R10
}

// uses returns the registers that an instruction names, or that a call passes on.
func uses(in bpf.Insn) uint16 {
	switch {
	case in.IsWide():
		return 1 << in.Dst()
	case in.Class() != bpf.JMP && in.Class() != bpf.JMP32:
	case in.Operation() == bpf.Call:
		return 0x3F
	}
	return 1<<in.Dst() | 1<<in.Src()
}

// scanBranch looks at a jump, a call or an exit.
func (c *compiler) scanBranch(f *function, pc int, in bpf.Insn) error {
	switch in.Operation() {
	case bpf.Exit:
		return nil
	case bpf.Call:
		return c.scanCall(f, pc, in)
	}
	if to := pc + 1 + in.Distance(); to < f.entry || to >= f.end || !c.begins(to) {
		return c.failure(pc, "goes on at %d, where no instruction of this function begins", to)
	} else {
		c.target[to] = true
	}
	return nil
}

func (c *compiler) scanCall(f *function, pc int, in bpf.Insn) error {
	switch {
	case in.Src() == bpf.CallLocal:
		f.calls = append(f.calls, c.functionAt(pc+1+in.Distance()))
		return nil
	case in.Src() == bpf.CallKfunc:
		return c.failure(pc, "calls a function of a kernel, and there is none")
	case c.view.Helper == nil:
		return c.failure(pc, "there are no helpers")
	}
	h, err := c.view.Helper(pc, in.Imm)
	if err != nil {
		return c.failure(pc, "%w", err)
	}
	if h.Inline == nil && h.Entry == 0 {
		return c.failure(pc, "helper %d has neither an address nor code", in.Imm)
	}
	if h.Tail && f.entry != 0 {
		return c.failure(pc, "a tail call in a function: only the program itself can go on as another one")
	}
	c.helpers[pc] = h
	c.tails = c.tails || h.Tail
	called := h.Inline == nil || h.Slow != nil
	f.helpers = f.helpers || called
	c.inFrame = c.inFrame || h.Tail || called && (h.Context || h.Link)
	return nil
}

// resolve finds what a 64-bit load loads.
func (c *compiler) resolve(pc int, in bpf.Insn) error {
	second := c.p.Insns[pc+1]
	switch {
	case in.Src() == bpf.Number:
		c.values[pc] = bpf.Wide(in, second)
		return nil
	case in.Src() == bpf.Function:
		return nil
	case c.view.Resolve == nil:
		return c.failure(pc, "loads what a loader has to resolve, and there is none")
	}
	v, err := c.view.Resolve(in, second)
	if err != nil {
		return c.failure(pc, "%w", err)
	}
	c.values[pc] = v
	return nil
}

// moveLoad finds where in the context a load goes.
func (c *compiler) moveLoad(load CtxLoad) error {
	if !c.begins(load.PC) || c.p.Insns[load.PC].Class() != bpf.LDX {
		return fmt.Errorf("instruction %d is said to load from the context, and is no load", load.PC)
	}
	if c.view.Context == nil {
		return nil
	}
	to, err := c.view.Context(load.Off, c.p.Insns[load.PC].Size())
	if err != nil {
		return c.failure(load.PC, "%w", err)
	}
	c.moved[load.PC] = to - load.Off
	return nil
}
