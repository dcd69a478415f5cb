package jit

import "sonde/bpf"

// What nothing reads is not computed: of a call that is inlined, the map and the key as a rule.

// arguments are R1 to R5, as a set of registers by their numbers.
const arguments uint16 = 0x3E

// everything is all registers.
const everything uint16 = 1<<bpf.NumRegs - 1

// readsWrites returns the registers that an instruction may read, and those that it writes in any case.
func (c *compiler) readsWrites(pc int, in bpf.Insn) (reads, writes uint16) {
	dst, src := uint16(1)<<in.Dst(), uint16(1)<<in.Src()
	switch in.Class() {
	case bpf.ALU, bpf.ALU64:
		switch {
		case in.Operation() != bpf.Mov:
			return dst | src, dst
		case in.UsesSrc():
			return src, dst
		}
		return 0, dst
	case bpf.LD:
		return 0, dst
	case bpf.LDX:
		return src, dst
	case bpf.JMP, bpf.JMP32:
		switch {
		case in.Operation() == bpf.Exit:
			return 1, 0
		case in.Operation() != bpf.Call:
			return dst | src, 0
		case in.Src() == bpf.CallLocal:
			return arguments, arguments | 1
		}
		return arguments &^ c.helpers[pc].Unread, arguments | 1
	}
	return dst | src | 1, 0 // stores; some atomics read R0
}

// live finds, for each instruction of a function, the registers that are read before they are written again,
// by instructions that somebody needs. That takes a pass for each loop that leads on from another one: if there are
// too many, all registers count as read.
func (c *compiler) live(f *function) {
	before := make([]uint16, f.end-f.entry+1)
	for pass, again := 0, true; again; pass++ {
		if pass == maxLive {
			c.allLive(f)
			return
		}
		again = false
		for pc := f.end - 1; pc >= f.entry; pc-- {
			if c.inside(pc) {
				continue
			}
			in, after := c.p.Insns[pc], uint16(0)
			jump := in.Class() == bpf.JMP || in.Class() == bpf.JMP32
			op := in.Operation()
			if jump && op != bpf.Exit && op != bpf.Call {
				after = before[pc+1+in.Distance()-f.entry]
			}
			if !jump || op != bpf.Exit && op != bpf.Ja {
				after |= before[c.next(pc)-f.entry]
			}
			c.after[pc] = after
			reads, writes := c.readsWrites(pc, in)
			if c.dead(pc, in) {
				reads = 0
			}
			if set := reads | after&^writes; set != before[pc-f.entry] {
				before[pc-f.entry], again = set, true
			}
		}
	}
	f.reads = before[0]
}

// maxLive is after how many passes live gives up, so that no program takes one for each of its jumps.
const maxLive = 32

// allLive has all that a function computes be needed.
func (c *compiler) allLive(f *function) {
	for pc := f.entry; pc < f.end; pc++ {
		c.after[pc] = everything
	}
	f.reads = everything
}

// next is where the instruction after one begins.
func (c *compiler) next(pc int) int {
	if c.p.Insns[pc].IsWide() {
		return pc + 2
	}
	return pc + 1
}

// dead tells whether nothing needs what an instruction computes.
func (c *compiler) dead(pc int, in bpf.Insn) bool {
	switch in.Class() {
	case bpf.ALU, bpf.ALU64, bpf.LD:
		return c.after[pc]&(1<<in.Dst()) == 0
	}
	return false
}

// sums compiles three instructions that add a number to memory, if nothing needs the sum: it tells whether it has.
func (c *compiler) sums(pc int, in bpf.Insn) bool {
	if pc+2 >= len(c.p.Insns) || c.target[pc+1] || c.target[pc+2] {
		return false
	}
	add, store := c.p.Insns[pc+1], c.p.Insns[pc+2]
	sum := in.Dst()
	_, moved := c.moved[pc]
	if in.Op != uint8(bpf.LDX)|bpf.Mem|bpf.DW || add.Op != uint8(bpf.ALU64)|bpf.Add || store.Op != uint8(bpf.STX)|bpf.Mem|bpf.DW ||
		moved || add.Dst() != sum || store.Src() != sum || in.Src() == sum || store.Dst() != in.Src() || store.Off != in.Off ||
		c.after[pc+2]&(1<<sum) != 0 {
		return false
	}
	to := memory{registers[in.Src()], int32(in.Off)}
	if v := add.Imm; v == int32(int8(v)) {
		c.mem(true, opGroup1, opAdd, to)
		c.put(byte(v))
	} else {
		c.mem(true, 0x81, opAdd, to)
		c.imm32(v)
	}
	return true
}
