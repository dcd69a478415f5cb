package jit

import "sonde/bpf"

// group1Of is the operation for arithmetic that is one instruction, by the high four bits.
var group1Of = [16]byte{bpf.Add >> 4: opAdd, bpf.Sub >> 4: opSub, bpf.Or >> 4: opOr, bpf.And >> 4: opAnd, bpf.Xor >> 4: opXor}

var shiftOf = [16]reg{bpf.Lsh >> 4: opShl, bpf.Rsh >> 4: opShr, bpf.Arsh >> 4: opSar}

// arithmetic compiles an instruction of the classes ALU and ALU64.
func (c *compiler) arithmetic(in bpf.Insn) {
	dst, src, wide := c.file[in.Dst()], c.file[in.Src()], in.Is64()
	switch op := in.Operation(); op {
	case bpf.Mov:
		c.moveInsn(in, dst, src)
	case bpf.Neg:
		c.regs(wide, opGroup3, opNeg, dst)
	case bpf.End:
		c.byteOrder(in, dst)
	case bpf.Mul:
		c.multiply(in, dst, src)
	case bpf.Div, bpf.Mod:
		c.divide(in, dst, src)
	case bpf.Lsh, bpf.Rsh, bpf.Arsh:
		c.shift(in, dst, src)
	default:
		if in.UsesSrc() {
			c.regs(wide, int(group1Of[op>>4])<<3|1, src, dst)
			return
		}
		if op == bpf.And && in.Imm >= 0 {
			wide = false // the high half becomes 0 in both
		}
		c.group1(wide, group1Of[op>>4], dst, in.Imm)
	}
}

func (c *compiler) moveInsn(in bpf.Insn, dst, src reg) {
	switch {
	case !in.UsesSrc():
		c.set(dst, number(in))
	case in.Off == 8:
		c.regs(in.Is64(), opMovsx8, dst, src)
	case in.Off == 16:
		c.regs(in.Is64(), opMovsx16, dst, src)
	case in.Off == 32:
		c.regs(true, opMovsxd, dst, src)
	default:
		c.move(in.Is64(), dst, src)
	}
}

// number returns the immediate of arithmetic as a register holds it.
func number(in bpf.Insn) uint64 {
	if in.Is64() {
		return uint64(int64(in.Imm))
	}
	return uint64(uint32(in.Imm))
}

func (c *compiler) byteOrder(in bpf.Insn, dst reg) {
	swap := in.Is64() || in.UsesSrc()
	switch {
	case in.Imm == 16:
		if swap {
			c.put(prefix16)
			c.regs(false, opShiftImm, opRor, dst)
			c.put(8)
		}
		c.regs(false, opMovzx16, dst, dst)
	case swap: // bswap
		c.opcode(in.Imm == 64, 0x0FC8|int(dst&7), 0, dst, ax)
	case in.Imm == 32:
		c.move(false, dst, dst)
	}
}

func (c *compiler) multiply(in bpf.Insn, dst, src reg) {
	switch {
	case in.UsesSrc():
		c.regs(in.Is64(), opImul, dst, src)
	case in.Imm == int32(int8(in.Imm)):
		c.regs(in.Is64(), 0x6B, dst, dst)
		c.put(byte(in.Imm))
	default:
		c.regs(in.Is64(), 0x69, dst, dst)
		c.imm32(in.Imm)
	}
}

// shift compiles shifts. The processor takes their count from CL, and masks it as eBPF does.
func (c *compiler) shift(in bpf.Insn, dst, src reg) {
	op, wide := shiftOf[in.Operation()>>4], in.Is64()
	switch {
	case !in.UsesSrc():
		c.shiftBy(wide, op, dst, in.Imm)
	case src == cx:
		c.regs(wide, opShiftCL, op, dst)
	default:
		c.move(true, r11, cx)
		c.move(false, cx, src)
		if dst == cx {
			dst = r11
		}
		c.regs(wide, opShiftCL, op, dst)
		c.move(true, cx, r11)
	}
}

func (c *compiler) shiftBy(wide bool, op, dst reg, n int32) {
	mask := int32(31)
	if wide {
		mask = 63
	}
	if n&mask == 0 {
		c.move(wide, dst, dst)
		return
	}
	c.regs(wide, opShiftImm, op, dst)
	c.put(byte(n & mask))
}
