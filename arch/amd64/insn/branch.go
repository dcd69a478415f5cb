package insn

// Bits of RFLAGS that conditions and these predicates use.
const (
	FlagCF = 1 << 0
	FlagPF = 1 << 2
	FlagZF = 1 << 6
	FlagSF = 1 << 7
	FlagTF = 1 << 8
	FlagOF = 1 << 11
)

// Target returns the target of a direct branch at address pc. For other instructions, where
// Flow.Direct is false, it returns the address of the next one.
func (i *Inst) Target(pc uint64) uint64 { return pc + uint64(i.Len) + uint64(i.Rel()) }

// Rel returns the branch displacement, sign-extended; 0 if RelLen is 0.
func (i *Inst) Rel() int64 {
	if i.RelLen == 0 {
		return 0
	}
	return i.imm
}

// Cond returns the condition code of a Jcc, 0..15.
func (i *Inst) Cond() uint8 { return i.Opcode & 15 }

// CondTrue evaluates condition code cc on flags as jcc, setcc and cmovcc do.
//
// Source: Intel SDM vol. 1, "EFLAGS Condition Codes".
func CondTrue(cc uint8, flags uint64) bool {
	less := flags&FlagSF != 0 != (flags&FlagOF != 0)
	var v bool
	switch cc >> 1 & 7 {
	case 0: // o
		v = flags&FlagOF != 0
	case 1: // b
		v = flags&FlagCF != 0
	case 2: // e
		v = flags&FlagZF != 0
	case 3: // be
		v = flags&(FlagCF|FlagZF) != 0
	case 4: // s
		v = flags&FlagSF != 0
	case 5: // p
		v = flags&FlagPF != 0
	case 6: // l
		v = less
	case 7: // le
		v = less || flags&FlagZF != 0
	}
	return v != (cc&1 != 0)
}

// LoopTaken evaluates a Loop instruction: it returns the new RCX and whether
// the branch is taken. With a 67 prefix the counter is ECX, and writing it
// clears the upper half as any 32-bit write does. JRCXZ writes nothing.
//
// Source: Intel SDM vol. 2, "LOOP/LOOPcc", "Jcc".
func (i *Inst) LoopTaken(rcx, flags uint64) (uint64, bool) {
	mask := ^uint64(0)
	if i.Prefix.Has(P67) {
		mask >>= 32
	}
	if i.Opcode == 0xE3 {
		return rcx, rcx&mask == 0
	}
	rcx = (rcx - 1) & mask
	zf := flags&FlagZF != 0
	switch i.Opcode {
	case 0xE0:
		return rcx, rcx != 0 && !zf
	case 0xE1:
		return rcx, rcx != 0 && zf
	}
	return rcx, rcx != 0
}

// StackPop returns how many bytes a Ret discards beyond the return address.
func (i *Inst) StackPop() uint16 { return uint16(i.Imm()) }
