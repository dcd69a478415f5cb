package insn

// Hardware numbers of general registers, as in ModRM and REX.
const (
	RAX int8 = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	NoReg int8 = -1
)

// Seg is the segment whose base is added to a memory operand's address.
type Seg uint8

// Only FS and GS have a base in 64-bit mode.
const (
	SegNone Seg = iota
	SegFS
	SegGS
)

// Mem is a memory operand: Seg base + Base + Index*Scale + Disp.
type Mem struct {
	Base   int8 // NoReg if none
	Index  int8 // NoReg if none
	Scale  uint8
	Seg    Seg
	RIPRel bool // Disp is relative to the next instruction; Base and Index are NoReg
	Addr32 bool // 67: the sum, before the segment base, is cut to 32 bits
	Disp   int64
}

// RMReg returns the general register in ModRM.rm, or NoReg if the operand is in memory or there is
// none.
func (i *Inst) RMReg() int8 {
	if !i.HasModRM || i.Mod() != 3 {
		return NoReg
	}
	return i.rm(i.ModRM)
}

// rm returns the register in the low three bits of b, extended by B.
func (i *Inst) rm(b uint8) int8 { return int8(b&7 | i.REX&REXB<<3) }

// MemOperand returns the memory operand in ModRM or moffs. It returns false if there is none, and
// if it is not certain: EVEX (scaled displacements), VEX gathers and AMX tiles (the index is not a
// general register or the address is a row's), FS or GS with another segment prefix.
func (i *Inst) MemOperand() (Mem, bool) {
	m := Mem{Base: NoReg, Index: NoReg, Addr32: i.Prefix.Has(P67)}
	switch i.Prefix & (PSeg | PFS | PGS) {
	case 0, PSeg:
	case PFS:
		m.Seg = SegFS
	case PGS:
		m.Seg = SegGS
	default:
		return Mem{}, false
	}
	moffs := i.Map == Map1B && i.Opcode&^3 == 0xA0
	if !i.HasMem() && !moffs || i.Prefix.Has(PEVEX) || i.vectorIndex() {
		return Mem{}, false
	}
	m.Disp = i.Disp()
	switch {
	case moffs:
		if i.DispLen == 4 { // an address, not a displacement: not signed
			m.Disp = int64(uint32(m.Disp))
		}
	case i.RIPRel:
		m.RIPRel = true
	case !i.HasSIB:
		m.Base = i.rm(i.ModRM)
	default:
		i.sib(&m)
	}
	return m, true
}

// vectorIndex reports a VEX gather (66 0F38 90..93) or tile load and store (0F38 4B).
func (i *Inst) vectorIndex() bool {
	return i.Prefix.Has(PVEX) && i.Map == Map0F38 && (i.Opcode&^3 == 0x90 || i.Opcode == 0x4B)
}

// sib fills in base and index. Index 4 without X means none; R12 can be an index.
// Base 5 with mod 0 means none, also with B.
func (i *Inst) sib(m *Mem) {
	m.Base = i.rm(i.SIB)
	if i.SIB&7 == 5 && i.Mod() == 0 {
		m.Base = NoReg
	}
	m.Index = int8(i.SIB>>3&7 | i.REX&REXX<<2)
	m.Scale = 1 << (i.SIB >> 6)
	if m.Index == RSP {
		m.Index, m.Scale = NoReg, 0
	}
}

// Addr returns the operand's address without the segment base. next is the address after the
// instruction, at its original place.
//
// POP to memory with an RSP base uses the RSP after the pop; CALL and PUSH the RSP before the push.
func (m *Mem) Addr(regs *[16]uint64, next uint64) uint64 {
	a := uint64(m.Disp)
	if m.RIPRel {
		a += next
	}
	if m.Base >= 0 {
		a += regs[m.Base&15]
	}
	if m.Index >= 0 {
		a += regs[m.Index&15] * uint64(m.Scale)
	}
	if m.Addr32 {
		a = uint64(uint32(a))
	}
	return a
}
