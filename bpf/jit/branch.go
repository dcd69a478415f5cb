package jit

import (
	"encoding/binary"

	"sonde/bpf"
)

// maxPasses is after how many passes jumps get long that need not be, so that no program takes
// a pass for each of its jumps.
const maxPasses = 10

// conditions by the high four bits of a jump's opcode.
var conditions = [16]int{
	bpf.Jeq >> 4: equal, bpf.Jne >> 4: notEqual, bpf.Jset >> 4: notEqual,
	bpf.Jgt >> 4: above, bpf.Jge >> 4: aboveOrEqual, bpf.Jlt >> 4: below, bpf.Jle >> 4: belowOrEqual,
	bpf.Jsgt >> 4: greater, bpf.Jsge >> 4: greaterOrEqual, bpf.Jslt >> 4: less, bpf.Jsle >> 4: lessOrEqual,
}

// site is a place in the code that needs the distance to a label.
type site struct {
	label int
	end   int  // the offset after the distance, from which it counts
	long  bool // it takes 4 bytes, not 1
}

// branch compiles an instruction of the classes JMP and JMP32.
func (c *compiler) branch(f *function, pc int, in bpf.Insn) {
	switch op := in.Operation(); {
	case op == bpf.Exit:
		c.leave(f)
	case op == bpf.Call:
		c.call(f, pc, in)
	case op == bpf.Ja:
		if in.Distance() != 0 {
			c.jump(always, pc+1+in.Distance())
		}
	case c.known(pc, in):
		if op == bpf.Jne {
			c.jump(always, pc+1+in.Distance())
		}
	default:
		c.compare(in)
		c.jump(conditions[op>>4], pc+1+in.Distance())
	}
}

// known tells whether a comparison of R0 with 0 is decided by the call in front of it: R0 is not 0.
func (c *compiler) known(pc int, in bpf.Insn) bool {
	zero := in.Class() == bpf.JMP && !in.UsesSrc() && in.Dst() == 0 && in.Imm == 0 && (in.Operation() == bpf.Jeq || in.Operation() == bpf.Jne)
	return zero && pc > 0 && c.helpers[pc-1].NotZero && !c.target[pc]
}

// compare sets the flags.
func (c *compiler) compare(in bpf.Insn) {
	dst, src, wide, bits := c.file[in.Dst()], c.file[in.Src()], in.Is64(), in.Operation() == bpf.Jset
	switch {
	case in.UsesSrc() && bits:
		c.regs(wide, opTest, src, dst)
	case in.UsesSrc():
		c.regs(wide, opCmp<<3|1, src, dst)
	case bits:
		c.regs(wide && in.Imm < 0, opGroup3, opTestImm, dst)
		c.imm32(in.Imm)
	case in.Imm == 0:
		c.regs(wide, opTest, dst, dst)
	default:
		c.group1(wide, opCmp, dst, in.Imm)
	}
}

// jump puts a jump to a label.
func (c *compiler) jump(condition, label int) {
	n := len(c.sites)
	long := n < len(c.long) && c.long[n]
	switch {
	case long && condition == always:
		c.put(0xE9)
	case long:
		c.put(0x0F, 0x80|byte(condition))
	case condition == always:
		c.put(0xEB)
	default:
		c.put(0x70 | byte(condition))
	}
	if long {
		c.distance(label)
		return
	}
	c.put(0)
	c.sites = append(c.sites, site{label: label, end: len(c.b)})
}

// distance puts the 4 bytes of the distance to a label.
func (c *compiler) distance(label int) {
	c.imm32(0)
	c.sites = append(c.sites, site{label: label, end: len(c.b), long: true})
}

// relax writes the distances, and tells whether another pass is needed: some do not fit, and have
// been made long. A site that is long stays so, so that this ends. all makes all of them long.
func (c *compiler) relax(all bool) (again bool) {
	for len(c.long) < len(c.sites) {
		c.long = append(c.long, false)
	}
	for i, s := range c.sites {
		d := c.labels[s.label] - s.end
		switch {
		case s.long:
			binary.LittleEndian.PutUint32(c.b[s.end-4:], uint32(d))
		case d == int(int8(d)) && !all:
			c.b[s.end-1] = byte(d)
		default:
			c.long[i], again = true, true
		}
	}
	return again
}
