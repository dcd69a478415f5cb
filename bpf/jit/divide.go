package jit

import "sonde/bpf"

// divide compiles quotients and remainders. The processor faults where eBPF has a result: if the
// divisor is 0, and if the smallest number is divided by -1.
func (c *compiler) divide(in bpf.Insn, dst, src reg) {
	if !in.UsesSrc() {
		c.divideBy(in, dst)
		return
	}
	signed := in.Off == 1
	c.move(in.Is64(), r11, src)
	c.regs(in.Is64(), opTest, r11, r11)
	zero := c.skip(equal)
	var minus int
	if signed {
		c.group1(in.Is64(), opCmp, r11, -1)
		minus = c.skip(equal)
	}
	c.divideByR11(in, dst)
	var done []int
	if signed {
		done = append(done, c.skip(always))
		c.land(minus)
		c.divideByMinus1(in, dst)
	}
	if in.Operation() == bpf.Mod && in.Is64() {
		c.land(zero) // the dividend is where it is
	} else {
		done = append(done, c.skip(always))
		c.land(zero)
		c.divideBy0(in, dst)
	}
	for _, from := range done {
		c.land(from)
	}
}

// divideBy divides by the immediate.
func (c *compiler) divideBy(in bpf.Insn, dst reg) {
	switch {
	case in.Imm == 0:
		c.divideBy0(in, dst)
	case in.Imm == -1 && in.Off == 1:
		c.divideByMinus1(in, dst)
	default:
		c.set(r11, number(in))
		c.divideByR11(in, dst)
	}
}

// divideBy0: the quotient is 0, the remainder is the dividend.
func (c *compiler) divideBy0(in bpf.Insn, dst reg) {
	if in.Operation() == bpf.Div {
		c.clear(dst)
		return
	}
	c.move(in.Is64(), dst, dst)
}

// divideByMinus1: the quotient is the negative, which of the smallest number is itself.
func (c *compiler) divideByMinus1(in bpf.Insn, dst reg) {
	if in.Operation() == bpf.Div {
		c.regs(in.Is64(), opGroup3, opNeg, dst)
		return
	}
	c.clear(dst)
}

// divideByR11 has the processor divide DX:AX. While AX is the dividend, dst holds R0.
func (c *compiler) divideByR11(in bpf.Insn, dst reg) {
	wide, op := in.Is64(), reg(opDiv)
	c.swapWithAX(dst)
	if in.Off == 1 {
		op = opIdiv
		c.opcode(wide, 0x99, 0, 0, ax) // CDQ, CQO
	} else {
		c.clear(dx)
	}
	c.regs(wide, opGroup3, op, r11)
	c.swapWithAX(dst)
	if in.Operation() == bpf.Mod {
		c.move(wide, dst, dx)
	}
}

func (c *compiler) swapWithAX(r reg) {
	if r != ax {
		c.opcode(true, 0x90|int(r&7), 0, r, ax)
	}
}
