package retslot

import "sonde/arch/amd64/insn"

// value is what is known about a register: its distance from the slot, in bytes.
type value struct {
	known bool
	off   int64
}

// values are the values of the 16 general registers.
type values [16]value

// entry is what is known at the start of a function: SP is at the slot.
func entry() (v values) {
	v[insn.RSP].known = true
	return v
}

func (v *values) set(r int8, x value) {
	if r >= 0 {
		v[r] = x
	}
}

func (v *values) get(r int8) value {
	if r < 0 {
		return value{}
	}
	return v[r]
}

// push moves SP by n bytes.
func (v *values) push(n int64) { v[insn.RSP].off -= n }

// do changes v, which is known before an instruction, to what is known after it.
func (v *values) do(in *insn.Inst) {
	switch {
	case in.Flow == insn.Call || in.Flow == insn.CallInd || in.Flow == insn.Syscall:
		v.forget() // the callee restores SP and BP
	case in.Map != insn.Map1B || in.Prefix.Has(insn.PVEX|insn.PEVEX):
		v.clobber(in)
	case !v.stack(in) && !v.move(in) && !v.add(in) && !onlyReads(in):
		v.clobber(in)
	}
}

// forget drops all but SP and BP.
func (v *values) forget() {
	for r := range v {
		if r != int(insn.RSP) && r != int(insn.RBP) {
			v[r] = value{}
		}
	}
}

// clobber handles an instruction of which only the operands are known: it may change the registers
// in ModRM, but SP only through ModRM.rm; and if it may have implicit operands, all but SP and BP.
func (v *values) clobber(in *insn.Inst) {
	wide := vector(in)
	if !in.HasModRM || in.Map == insn.Map1B && in.Opcode&^1 == 0xf6 || in.Map == insn.Map0F && !wide {
		v.forget()
	}
	switch {
	case !in.HasModRM:
	case !wide:
		v.set(in.RMReg(), value{})
		if r := in.Reg(); r != insn.RSP {
			v.set(r, value{})
		}
	case in.Opcode == 0x7e: // MOVD, MOVQ
		v.set(in.RMReg(), value{})
	case in.Opcode == 0x50 || in.Opcode == 0x2c || in.Opcode == 0x2d || in.Opcode == 0xd7: // masks and conversions
		v.set(in.Reg(), value{})
	}
}

// vector reports whether the registers in ModRM may be other than general ones.
func vector(in *insn.Inst) bool {
	if in.Prefix.Has(insn.PVEX | insn.PEVEX) {
		return true
	}
	return in.Map == insn.Map0F && (in.Opcode>>4 == 1 || in.Opcode>>4 == 2 || in.Opcode>>4 >= 5 && in.Opcode>>4 <= 7 || in.Opcode>>4 >= 0xd)
}

// onlyReads reports whether an instruction of the first map changes no register:
// comparisons, stores, jumps, and no-operations.
func onlyReads(in *insn.Inst) bool {
	switch op := in.Opcode; {
	case op >= 0x38 && op <= 0x3d, op == 0x84, op == 0x85, op == 0xa8, op == 0xa9, op == 0x90:
		return true
	case op >= 0x80 && op <= 0x83:
		return in.Group() == 7 || in.HasMem()
	case op == 0xf6 || op == 0xf7:
		return in.Group() < 2
	case op == 0x88 || op == 0x89 || op == 0xc6 || op == 0xc7 || op < 0x40 && op&7 < 2 || op == 0xd1 || op == 0xc1 || op == 0xd3:
		return in.HasMem()
	}
	return in.Flow != insn.Next
}
