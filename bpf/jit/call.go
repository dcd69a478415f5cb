package jit

import (
	"encoding/binary"

	"sonde/bpf"
)

const (
	word = 8
	// Where the context, the link, and what is left for tail calls lie in a frame, from BP.
	contextAt, linkAt, leftAt = -word, -2 * word, -3 * word
	// spill is the room that the caller of a Go function gives it for its arguments in registers.
	spill = 8 * word
	// reach is how far from the program's address a helper may be to be called by its distance:
	// 2 GiB, less what no code takes.
	reach = 1<<31 - 1<<28
)

// preserved are the registers that a call leaves alone: R6 to R9.
var preserved = [...]reg{r9, r10, r12, r13}

// enter puts what a function does first. Its R1 to R5 are in their registers, but in the first one
// where BX is the context.
func (c *compiler) enter(f *function) {
	if f.entry == 0 {
		c.put(c.view.Enter...)
		if c.tails {
			c.set(dx, bpf.MaxTailCalls<<32|uint64(c.view.Credit))
		}
		c.tail = len(c.b)
	}
	c.put(0x50 | byte(bp)) // push
	c.move(true, bp, sp)
	if f.size > 0 {
		c.group1(true, opSub, sp, int32(f.size))
	}
	switch {
	case f.entry == 0 && c.inFrame:
		c.mem(true, opStore, bx, memory{bp, contextAt})
		c.mem(true, opStore, ax, memory{bp, linkAt})
	case c.inFrame:
		c.mem(true, opLoad, dx, memory{bp, 0})
		for _, at := range []int32{contextAt, linkAt} {
			c.mem(true, opLoad, r11, memory{dx, at})
			c.mem(true, opStore, r11, memory{bp, at})
		}
	}
	if f.entry == 0 && c.tails {
		c.mem(true, opStore, dx, memory{bp, leftAt})
	}
	c.each(f.keeps, f.keepsAt, opStore)
	c.stackEnd(f)
	if f.entry == 0 && f.reads&(1<<1) != 0 {
		c.move(true, registers[1], bx)
	}
}

// leave puts the exit of a function.
func (c *compiler) leave(f *function) {
	if f.entry == 0 {
		c.put(c.view.Leave...)
	}
	c.each(f.keeps, f.keepsAt, opLoad)
	c.put(0xC9, 0xC3) // leave, ret
}

// stackEnd sets R10.
func (c *compiler) stackEnd(f *function) {
	if f.uses&(1<<bpf.R10) != 0 {
		c.mem(true, opLea, registers[bpf.R10], memory{bp, f.stackAt})
	}
}

// each puts stores or loads of the registers R6 to R9 of a set, from BP+at downwards.
func (c *compiler) each(set uint16, at int32, op int) {
	for i, r := range preserved {
		if set&(1<<(6+i)) != 0 {
			at -= word
			c.mem(true, op, r, memory{bp, at})
		}
	}
}

// call compiles calls.
func (c *compiler) call(f *function, pc int, in bpf.Insn) {
	if in.Src() == bpf.CallLocal {
		c.put(0xE8)
		c.distance(c.start(c.functionAt(pc + 1 + in.Distance())))
		c.stackEnd(f)
		return
	}
	h := c.helpers[pc]
	c.helper(f, h)
	if h.Tail {
		c.goOn(h)
	}
}

// helper puts what a helper does.
func (c *compiler) helper(f *function, h Helper) {
	if h.Inline == nil {
		c.callHelper(f, h)
		return
	}
	from := len(c.b)
	c.put(h.Inline...)
	if h.Slow == nil {
		return
	}
	c.put(0xE9, 0, 0, 0, 0)
	call := len(c.b)
	for _, at := range h.Slow {
		c.leads(from+at, call)
	}
	c.callHelper(f, h)
	c.leads(call-4, len(c.b))
}

// leads writes the 4 bytes at a place of the distance of a jump to another.
func (c *compiler) leads(at, to int) { binary.LittleEndian.PutUint32(c.b[at:], uint32(to-at-4)) }

// callHelper puts the call of a helper.
func (c *compiler) callHelper(f *function, h Helper) {
	c.each(f.saves, f.savesAt, opStore)
	c.move(true, ax, registers[1])
	if h.Context {
		c.mem(true, opLoad, r8, memory{bp, contextAt})
	}
	if h.CPU {
		c.put(prefixGS)
		c.opcode(true, opLoad, r9, 0, ax)
		c.put(byte(r9&7)<<3|4, 0x25) // no base, no index
		c.imm32(c.view.CPU)
	}
	if h.Link {
		c.mem(true, opLoad, r10, memory{bp, linkAt})
	}
	c.callAddress(h.Entry)
	c.each(f.saves, f.savesAt, opLoad)
	c.stackEnd(f)
}

// goOn puts the jump to the program that is entered at AX, if there is one, and calls and credit are left for it.
func (c *compiler) goOn(h Helper) {
	calls, credit := memory{bp, leftAt + 4}, memory{bp, leftAt}
	c.regs(true, opTest, ax, ax)
	none := c.skip(equal)
	c.mem(false, opGroup1, opCmp, calls)
	c.put(0)
	over := c.skip(equal)
	c.mem(false, opLoad, dx, memory{ax, -4})
	c.mem(false, opCmp<<3|1, dx, credit)
	enough := c.skip(aboveOrEqual)
	c.put(h.Cut...)
	cut := c.skip(always)
	c.land(enough)
	c.mem(false, opSub<<3|1, dx, credit)
	c.mem(false, opGroup1, opSub, calls)
	c.put(1)
	c.move(true, r11, ax)
	c.mem(true, opLoad, dx, credit) // and calls
	c.mem(true, opLoad, ax, memory{bp, linkAt})
	c.mem(true, opLoad, bx, memory{bp, contextAt})
	c.put(0xC9)                 // leave
	c.regs(false, 0xFF, 4, r11) // jmp
	for _, from := range []int{none, over, cut} {
		c.land(from)
	}
}

// callAddress puts the call of a Go function.
func (c *compiler) callAddress(entry uintptr) {
	if d := int64(entry - c.at); -reach < d && d < reach {
		c.put(0xE8)
		c.b = binary.LittleEndian.AppendUint32(c.b, uint32(d-int64(len(c.b)+4)))
		return
	}
	c.set(r11, uint64(entry))
	c.regs(false, 0xFF, 2, r11)
}

// enterFromHelper puts the entry of a function by which helpers call it: a Go function of five
// words, the context and the link. Its frame is one from which the function copies these.
func (c *compiler) enterFromHelper(function int) {
	c.put(0x50 | byte(bp))
	c.move(true, bp, sp)
	c.group1(true, opSub, sp, -linkAt)
	c.mem(true, opStore, r8, memory{bp, contextAt})
	c.mem(true, opStore, r9, memory{bp, linkAt})
	c.move(true, registers[1], ax)
	c.put(0xE8)
	c.distance(c.start(function))
	c.put(0xC9, 0xC3)
}
