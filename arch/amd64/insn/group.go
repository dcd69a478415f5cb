package insn

const all = 0xFF

// groups returns which values of ModRM.reg an instruction allows, as bit sets,
// for a memory and for a register operand. Opcodes not listed allow all.
//
// Source: Intel SDM vol. 2, "Opcode Extensions for One-Byte and Two-byte Opcodes".
func groups(in *Inst) (mem, reg uint8) {
	switch {
	case in.Map == Map0F38 && in.Prefix.Has(PVEX) && in.Opcode == 0xF3: // blsr, blsmsk, blsi
		return 0x0E, 0x0E
	case in.Map == Map0F38 && !in.Prefix.Has(PVEX|PEVEX) && in.Opcode == 0xD8: // aesencwide128kl and its kin
		return 0x0F, 0
	case in.Map == Map0F38 && in.Prefix.Has(PEVEX) && in.Opcode&^1 == 0xC6: // gather, scatter prefetch
		return 0x66, 0
	case in.Map == Map1B:
		return groups1(in)
	case in.Map == Map0F && in.Prefix.Has(PVEX|PEVEX):
		return groupsVEX(in)
	case in.Map == Map0F:
		return groups2(in)
	}
	return all, all
}

func groupsVEX(in *Inst) (mem, reg uint8) {
	switch {
	case in.Opcode >= 0x71 && in.Opcode <= 0x73:
		return shifts(in)
	case in.Opcode == 0xAE && in.Prefix.Has(PVEX): // ldmxcsr, stmxcsr
		return 0x0C, 0
	}
	return all, all
}

func groups1(in *Inst) (mem, reg uint8) {
	switch in.Opcode {
	case 0x8C: // mov from segment register
		return 0x3F, 0x3F
	case 0x8D: // lea
		return all, 0
	case 0x8E: // mov to segment register, except CS
		return 0x3D, 0x3D
	case 0x8F: // pop
		return 0x01, 0x01
	case 0xC6, 0xC7: // mov; /7 is xabort, xbegin
		if in.ModRM == 0xF8 {
			return 0, 0x80
		}
		return 0x01, 0x01
	case 0xFE: // inc, dec
		return 0x03, 0x03
	case 0xFF: // far call and jmp only through memory
		return 0x7F, 0x57
	}
	return all, all
}

func groups2(in *Inst) (mem, reg uint8) {
	switch in.Opcode {
	case 0x00: // sldt ..; /6 with F2 is LKGS
		if in.Prefix.Has(PF2) {
			return 0x40, 0x40
		}
		return 0x3F, 0x3F
	case 0x01:
		if in.Prefix.Has(PF3) { // rstorssp
			return all, system(in) << in.Group()
		}
		return all &^ 0x20, system(in) << in.Group()
	case 0x71, 0x72, 0x73: // shifts by an immediate; EVEX adds memory and rotates
		return shifts(in)
	case 0x50, 0xC5, 0xD7, 0xF7: // movmskps, pextrw, pmovmskb, maskmovq
		return 0, all
	case 0xAE:
		return fences(in)
	case 0xBA: // bt, bts, btr, btc
		return 0xF0, 0xF0
	case 0xC7: // cmpxchg8b, xrstors, xsavec, xsaves, vmptrld .., rdrand, rdseed
		if in.Prefix.Has(PF2) {
			return 0xBA, 0
		}
		return 0xFA, 0xC0
	}
	return all, all
}

func shifts(in *Inst) (mem, reg uint8) {
	reg = 0x54 // srl, sra, sll
	if in.Opcode == 0x73 {
		reg = 0x44 // srl, sll
		if in.Prefix.Has(P66 | PVEX | PEVEX) {
			reg = 0x88 | 0x44 // and srldq, slldq, which MMX has not
		}
	}
	if !in.Prefix.Has(PEVEX) {
		return 0, reg
	}
	if in.Opcode == 0x72 {
		reg |= 0x03 // rotates
	}
	return reg, reg
}

// fences is 0F AE: fxsave and its kin, fences, FS and GS base.
func fences(in *Inst) (mem, reg uint8) {
	switch {
	case in.Prefix.Has(PF2): // umwait
		return 0, 0x40
	case in.Prefix.Has(PF3): // rdfsbase .. wrgsbase, ptwrite, incssp, umonitor; clrssbsy
		return 0x50, 0x7F
	case in.Prefix.Has(P66): // clwb, clflushopt; tpause
		return 0xC0, 0x40
	}
	return all, 0xE0
}

// system reports, as 1 or 0, whether 0F 01 with a register-form ModRM is an instruction:
// the whole byte is an opcode there.
func system(in *Inst) uint8 {
	known := systemPlain
	switch p := in.Prefix; {
	case p.Has(PF2):
		known = systemF2
	case p.Has(PF3):
		known = systemF3
	case p.Has(P66):
		known = system66
	}
	return uint8(known >> (in.ModRM & 63) & 1)
}

// The register forms of 0F 01, by mandatory prefix. Bit n: ModRM C0+n.
var (
	systemPlain uint64 = 0xFFFFC1FFFFF38F7F
	system66    uint64 = 0x13FF00FFFDF30F3F
	systemF3    uint64 = 0xF7FFF5FFFFF30F7F
	systemF2    uint64 = 0xD3FF03FFFFF30F7F
)

// is3DNow reports whether b is a 3DNow! opcode.
//
// Source: AMD APM vol. 3, "3DNow! Opcodes".
func is3DNow(b uint64) bool {
	switch b {
	case 0x0C, 0x0D, 0x1C, 0x1D, 0x8A, 0x8E, 0x90, 0x94, 0x96, 0x97, 0x9A, 0x9E,
		0xA0, 0xA4, 0xA6, 0xA7, 0xAA, 0xAE, 0xB0, 0xB4, 0xB6, 0xB7, 0xBB, 0xBF:
		return true
	}
	return false
}
