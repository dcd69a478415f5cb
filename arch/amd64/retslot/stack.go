package retslot

import "sonde/arch/amd64/insn"

// stack is do for instructions that push and pop.
//
// Source: Intel SDM vol. 2, the pages of the instructions.
func (v *values) stack(in *insn.Inst) bool {
	op := in.Opcode
	switch {
	case op >= 0x50 && op <= 0x57, op == 0x68, op == 0x6a, op == 0x9c, op == 0xff && in.Group() == 6:
		v.push(8)
	case op >= 0x58 && op <= 0x5f:
		v.push(-8)
		v[op&7|in.REX&insn.REXB<<3] = value{}
	case op == 0x9d:
		v.push(-8)
	case op == 0x8f:
		v.push(-8)
		v.set(in.RMReg(), value{})
	case op == 0xc9: // LEAVE
		v[insn.RSP] = v[insn.RBP]
		v[insn.RBP] = value{}
		v.push(-8)
	default:
		return false
	}
	return true
}

// move is do for MOV, LEA and XCHG between general registers.
func (v *values) move(in *insn.Inst) bool {
	wide := in.REX&insn.REXW != 0
	switch in.Opcode {
	case 0x89:
		if in.HasMem() {
			return false
		}
		v.copy(in.RMReg(), in.Reg(), wide)
	case 0x8b:
		v.copy(in.Reg(), in.RMReg(), wide)
	case 0x8d:
		x, ok := v.address(in)
		v.set(in.Reg(), value{ok && wide, x})
	case 0x87:
		a, b := v.get(in.Reg()), v.get(in.RMReg())
		v.set(in.Reg(), b)
		v.set(in.RMReg(), a)
	case 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97:
		r := int8(in.Opcode&7 | in.REX&insn.REXB<<3)
		v[insn.RAX], v[r] = v[r], v[insn.RAX]
	case 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf:
		v[in.Opcode&7|in.REX&insn.REXB<<3] = value{}
	default:
		return false
	}
	return true
}

func (v *values) copy(to, from int8, wide bool) {
	x := v.get(from)
	x.known = x.known && wide
	v.set(to, x)
}

// add is do for arithmetic with a constant, and for other instructions of that form.
func (v *values) add(in *insn.Inst) bool {
	op, r := in.Opcode, in.RMReg()
	if in.REX&insn.REXW == 0 || r < 0 {
		return false
	}
	n := int64(0)
	switch {
	case op == 0x83 && in.Group() != 7:
		n = int64(int8(in.Imm()))
	case op == 0x81 && in.Group() != 7:
		n = int64(int32(in.Imm()))
	case op == 0xff && in.Group() < 2:
		v[r].off += 1 - 2*int64(in.Group())
		return true
	case op < 0x38 && op&7 == 1: // of two registers, into rm
		v[r] = value{}
		return true
	case op < 0x38 && op&7 == 3:
		v.set(in.Reg(), value{})
		return true
	default:
		return false
	}
	switch in.Group() {
	case 0:
		v[r].off += n
	case 5:
		v[r].off -= n
	default:
		v[r] = value{}
	}
	return true
}

// address returns the distance of a memory operand from the slot, if it is known.
func (v *values) address(in *insn.Inst) (int64, bool) {
	m, ok := in.MemOperand()
	if !ok || m.Seg != insn.SegNone || m.Index >= 0 || m.Addr32 {
		return 0, false
	}
	base := v.get(m.Base)
	return base.off + m.Disp, base.known
}

// touches reports whether an instruction reads or writes the slot, other than as a
// call or return does.
func (v *values) touches(in *insn.Inst) bool {
	sp := v[insn.RSP]
	first := in.Map == insn.Map1B && !in.Prefix.Has(insn.PVEX|insn.PEVEX)
	if op := in.Opcode; first && sp == (value{known: true}) && (op >= 0x58 && op <= 0x5f || op == 0x8f || op == 0x9d) {
		return true // pops it
	}
	if first && sp == (value{true, 8}) && v.pushes(in) {
		return true
	}
	nothing := first && in.Opcode == 0x8d || in.Map == insn.Map0F && in.Opcode>>4 == 1 && in.Opcode >= 0x18
	at, ok := v.address(in)
	return ok && !nothing && at < 8 && at+size(in) > 0
}

// pushes reports whether an instruction writes below SP and moves it there.
func (v *values) pushes(in *insn.Inst) bool {
	before := v[insn.RSP]
	after := *v
	return in.Flow == insn.Call || in.Flow == insn.CallInd || after.stack(in) && after[insn.RSP].off < before.off
}

// size is the largest size of a memory operand in bytes.
func size(in *insn.Inst) int64 {
	switch {
	case in.Prefix.Has(insn.PEVEX):
		return 64
	case in.Prefix.Has(insn.PVEX):
		return 32
	case in.Map == insn.Map0F && vector(in):
		return 16
	}
	return 8
}
