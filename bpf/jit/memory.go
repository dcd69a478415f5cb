package jit

import "sonde/bpf"

// load compiles loads.
func (c *compiler) load(pc int, in bpf.Insn) {
	dst, from := registers[in.Dst()], memory{registers[in.Src()], int32(in.Off) + c.moved[pc]}
	signed := in.Mode() == bpf.MemSX
	switch size := in.Size(); {
	case size == 1 && signed:
		c.mem(true, opMovsx8, dst, from)
	case size == 1:
		c.mem(false, opMovzx8, dst, from)
	case size == 2 && signed:
		c.mem(true, opMovsx16, dst, from)
	case size == 2:
		c.mem(false, opMovzx16, dst, from)
	case signed:
		c.mem(true, opMovsxd, dst, from)
	default:
		c.mem(size == 8, opLoad, dst, from)
	}
}

// loadWide compiles 64-bit loads.
func (c *compiler) loadWide(pc int, in bpf.Insn) {
	dst := registers[in.Dst()]
	if in.Src() != bpf.Function {
		c.set(dst, c.values[pc])
		return
	}
	c.opcode(true, opLea, dst, 0, ax) // the address of a thunk, by its distance from IP
	c.put(byte(dst&7)<<3 | 5)
	c.distance(c.thunk(c.functionAt(pc + 1 + in.Distance())))
}

// store compiles stores and atomics.
func (c *compiler) store(in bpf.Insn) {
	to, src := memory{registers[in.Dst()], int32(in.Off)}, registers[in.Src()]
	switch {
	case in.Class() == bpf.ST:
		c.storeNumber(in, to)
	case in.Mode() == bpf.Atomic:
		c.atomic(in, src, to)
	case in.Size() == 1:
		c.mem(false, opStore8, src, to)
	default:
		if in.Size() == 2 {
			c.put(prefix16)
		}
		c.mem(in.Size() == 8, opStore, src, to)
	}
}

func (c *compiler) storeNumber(in bpf.Insn, to memory) {
	switch in.Size() {
	case 1:
		c.mem(false, opImm8, 0, to)
		c.put(byte(in.Imm))
	case 2:
		c.put(prefix16)
		c.mem(false, opImm, 0, to)
		c.put(byte(in.Imm), byte(in.Imm>>8))
	default:
		c.mem(in.Size() == 8, opImm, 0, to)
		c.imm32(in.Imm)
	}
}

// atomic compiles an atomic operation of 4 or 8 bytes.
func (c *compiler) atomic(in bpf.Insn, src reg, to memory) {
	wide := in.Size() == 8
	switch {
	case in.Imm == bpf.Xchg:
		c.mem(wide, opXchg, src, to)
	case in.Imm == bpf.Cmpxchg:
		c.put(prefixLock)
		c.mem(wide, opCmpxchg, src, to)
		c.move(wide, ax, ax) // EAX is not written if it was equal
	case in.Imm == int32(bpf.Add)|bpf.Fetch:
		c.put(prefixLock)
		c.mem(wide, opXadd, src, to)
	case in.Imm&bpf.Fetch != 0:
		c.fetch(wide, group1Of[in.Imm>>4], src, to)
	default:
		c.put(prefixLock)
		c.mem(wide, int(group1Of[in.Imm>>4])<<3|1, src, to)
	}
}

// fetch compiles OR, AND and XOR that return the old value: it computes the new one in DX, and
// tries until nothing has changed the old one meanwhile. R11 holds R0, for which AX is needed.
func (c *compiler) fetch(wide bool, op byte, src reg, to memory) {
	operand := src
	c.move(true, r11, ax)
	if src == ax {
		operand = r11
	}
	if to.base == ax {
		to.base = r11
	}
	c.mem(wide, opLoad, ax, to)
	again := len(c.b)
	c.move(wide, dx, ax)
	c.regs(wide, int(op)<<3|1, operand, dx)
	c.put(prefixLock)
	c.mem(wide, opCmpxchg, dx, to)
	c.put(0x70|notEqual, byte(again-len(c.b)-2))
	if src != ax {
		c.move(wide, src, ax)
		c.move(true, ax, r11)
	}
}
