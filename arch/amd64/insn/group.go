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
	case in.Map == Map0F38 && in.Prefix.Has(PEVEX) && in.Opcode&^1 == 0xC6: // gather, scatter prefetch
		return 0x66, 0
	case in.Map == Map1B:
		return groups1(in)
	case in.Map == Map0F:
		return groups2(in)
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
	simd := in.Prefix.Has(PVEX | PEVEX)
	switch in.Opcode {
	case 0x00: // sldt ..; /6 with F2 is LKGS
		if in.Prefix.Has(PF2) {
			return 0x40, 0x40
		}
		return 0x3F, 0x3F
	case 0x01:
		if in.Prefix.Has(PF3) { // rstorssp
			return all, system(in.ModRM) << in.Group()
		}
		return all &^ 0x20, system(in.ModRM) << in.Group()
	case 0x71, 0x72, 0x73: // shifts by an immediate; EVEX adds memory and rotates
		return shifts(in)
	case 0xAE:
		return fences(in)
	case 0xB8: // popcnt; without F3 an Itanium jump
		if !simd && !in.Prefix.Has(PF3) {
			return 0, 0
		}
	case 0xBA: // bt, bts, btr, btc
		return 0xF0, 0xF0
	case 0xC7: // cmpxchg8b, xrstors, xsavec, xsaves, vmptrld .., rdrand, rdseed
		return 0xFA, 0xC0
	}
	return all, all
}

func shifts(in *Inst) (mem, reg uint8) {
	reg = 0x54 // srl, sra, sll
	if in.Opcode == 0x73 {
		reg = 0xCC // srl, srldq, sll, slldq
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
	case in.Prefix.Has(PVEX): // ldmxcsr, stmxcsr
		return 0x0C, 0
	case in.Prefix.Has(PF3): // rdfsbase .. wrgsbase, ptwrite, incssp, umonitor; clrssbsy
		return 0x50, 0x7F
	}
	return all, 0xE0
}

// system reports, as 1 or 0, whether 0F 01 with a register-form ModRM is an instruction:
// the whole byte is an opcode there.
func system(modrm uint8) uint8 {
	const known = 0xFFFFF7FFFFF38F7F // bit n: ModRM C0+n
	return uint8(uint64(known) >> (modrm & 63) & 1)
}

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
