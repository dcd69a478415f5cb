package emulate

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// Plain is an instruction that moves one value between registers, or between a register and the
// stack: PUSH and POP of registers and immediates, LEAVE, LEA, MOV between registers and of
// immediates, and those that set or clear CF and DF. It is executed in the three steps of an Op.
// The zero Plain is not an instruction.
//
// Executing a copy would have the same effect. But if the copy must be in a program's memory, and
// be entered and left, the emulation is simpler, and not slower.
type Plain struct {
	kind  plain
	wide  bool // 64 bits are written, not 32 that clear the upper half
	to    int8 // register that is written
	from  int8 // register that is read, insn.NoReg for value
	value uint64
	mem   insn.Mem // of LEA
	next  uint64
}

type plain uint8

const (
	noPlain plain = iota
	move
	lea
	push
	pop
	leave
	clearFlags // value: the flags to clear
	setFlags
	flipFlags
)

// NewPlain returns the emulation of in at address addr; false if it is of another kind.
//
// Context: any.
func NewPlain(in *insn.Inst, addr uint64) (Plain, bool) {
	p := Plain{wide: in.REX&insn.REXW != 0, from: insn.NoReg, next: addr + uint64(in.Len)}
	if in.Len == 0 || in.Map != insn.Map1B || in.Prefix.Has(insn.P66|insn.PLock) {
		return Plain{}, false
	}
	if p.kind = p.stack(in); p.kind == noPlain {
		p.kind = p.moves(in)
	}
	if p.kind == noPlain {
		return Plain{}, false
	}
	return p, true
}

// low is the register in the low three bits of the opcode.
func low(in *insn.Inst) int8 { return int8(in.Opcode&7 | in.REX&insn.REXB<<3) }

// stack decodes instructions that push or pop.
func (p *Plain) stack(in *insn.Inst) plain {
	switch op := in.Opcode; {
	case op&^7 == 0x50:
		p.from = low(in)
		return push
	case op&^7 == 0x58:
		p.to = low(in)
		return pop
	case op == insn.OpPush:
		p.value = uint64(int64(int32(in.Imm())))
		return push
	case op == insn.OpPush8:
		p.value = uint64(int64(int8(in.Imm())))
		return push
	case op == 0xFF && in.Group() == 6 && in.Mod() == 3:
		p.from = in.RMReg()
		return push
	case op == 0x8F && in.Mod() == 3:
		p.to = in.RMReg()
		return pop
	case op == 0xC9:
		return leave
	}
	return noPlain
}

// moves decodes moves between registers.
func (p *Plain) moves(in *insn.Inst) plain {
	switch op := in.Opcode; {
	case op == 0x89 && in.Mod() == 3:
		p.to, p.from = in.RMReg(), in.Reg()
		return move
	case op == 0x8B && in.Mod() == 3:
		p.to, p.from = in.Reg(), in.RMReg()
		return move
	case op&^7 == 0xB8:
		p.to, p.value = low(in), in.Imm()
		return move
	case op == 0xC7 && in.Mod() == 3 && in.Flow == insn.Next:
		p.to, p.value = in.RMReg(), uint64(int64(int32(in.Imm())))
		return move
	case op == 0x8D:
		var ok bool
		if p.mem, ok = in.MemOperand(); ok {
			p.to = in.Reg()
			return lea
		}
	}
	return p.bits(in)
}

// bits decodes instructions that change single flags.
func (p *Plain) bits(in *insn.Inst) plain {
	p.value = amd64.RFLAGS_CF
	switch in.Opcode {
	case 0xF5:
		return flipFlags
	case 0xF8:
		return clearFlags
	case 0xF9:
		return setFlags
	}
	p.value = amd64.RFLAGS_DF
	switch in.Opcode {
	case 0xFC:
		return clearFlags
	case 0xFD:
		return setFlags
	}
	return noPlain
}

// Loads returns the address of the 8 bytes that the instruction loads.
//
// Context: any.
func (p *Plain) Loads(r *amd64.Regs) (addr uint64, ok bool) {
	switch p.kind {
	case pop:
		return r.SP, true
	case leave:
		return r.BP, true
	}
	return 0, false
}

// Pushes returns what the instruction stores at SP-8.
//
// Context: any.
func (p *Plain) Pushes(r *amd64.Regs) (v uint64, ok bool) {
	return p.source(r), p.kind == push
}

func (p *Plain) source(r *amd64.Regs) uint64 {
	if p.from == insn.NoReg {
		return p.value
	}
	return *r.Register(p.from)
}

// Finish changes r as the instruction changes registers, flags and IP.
//
// Context: any.
// Source:  Intel SDM vol. 2, "LEA", "LEAVE", "MOV", "POP", "PUSH".
func (p *Plain) Finish(r *amd64.Regs, loaded uint64) {
	r.IP = p.next
	switch p.kind {
	case move:
		p.set(r, p.source(r))
	case lea:
		var regs [16]uint64
		r.General(&regs)
		p.set(r, p.mem.Addr(&regs, p.next))
	case push:
		r.SP -= 8
	case pop:
		r.SP += 8 // first, because POP RSP loads it from the stack
		*r.Register(p.to) = loaded
	case leave:
		r.SP, r.BP = r.BP+8, loaded
	case clearFlags:
		r.Flags &^= p.value
	case setFlags:
		r.Flags |= p.value
	case flipFlags:
		r.Flags ^= p.value
	}
}

// set stores v in the destination register.
func (p *Plain) set(r *amd64.Regs, v uint64) {
	if !p.wide {
		v = uint64(uint32(v))
	}
	*r.Register(p.to) = v
}
