package insn

// noVEX are the prefixes that raise #UD in front of VEX or EVEX. A REX that would be ignored
// elsewhere counts, too, to be on the safe side.
const noVEX = P66 | PF2 | PF3 | PLock | PREX | PStray

// vex reads the rest of a VEX prefix and the opcode, and returns its shape.
//
//	C5  R vvvv L pp                          map 1
//	C4  R X B mmmmm      W vvvv L pp
//
// R, X, B, vvvv are stored inverted.
// Source: Intel SDM vol. 2, "Intel Advanced Vector Extensions (Intel AVX)", "The VEX Prefix".
func (d *decoder) vex(first byte) byte {
	if d.in.Prefix.Has(noVEX) {
		d.fail(invalid)
	}
	d.in.Prefix |= PVEX
	b := d.next()
	m, last := Map0F, b
	d.in.REX = ^b >> 5 & REXR
	if first == 0xC4 {
		last = d.next()
		m = Map(b & 31)
		d.in.REX = ^b>>5&7 | last>>4&REXW
	}
	pp := last & 3
	switch m {
	case Map0F:
		return d.listed(m, &vex1, pp, 'V', d.next())
	case Map0F38:
		return d.listed(m, &vex2, pp, 'M', d.next())
	case Map0F3A:
		return d.listed(m, &vex3, pp, 'B', d.next())
	}
	d.fail(refused)
	return 'x'
}

// evex reads the rest of an EVEX prefix and the opcode, and returns its shape.
//
//	62  R X B R' 0 mmm   W vvvv 1 pp   z L'L b V' aaa
//
// Source: Intel SDM vol. 2, "Intel AVX-512 Encoding", "EVEX".
func (d *decoder) evex() byte {
	if d.in.Prefix.Has(noVEX) {
		d.fail(invalid)
	}
	d.in.Prefix |= PEVEX
	b0, b1 := d.next(), d.next()
	d.next()
	if b0&8 != 0 || b1&4 == 0 {
		d.fail(refused)
	}
	d.in.REX = ^b0>>5&7 | b1>>4&REXW
	m, pp := Map(b0&7), b1&3
	switch m {
	case Map0F:
		return d.listed(m, &evex1, pp, 'V', d.next())
	case Map0F38:
		return d.listed(m, &evex2, pp, 'M', d.next())
	case Map0F3A:
		return d.listed(m, &evex3, pp, 'B', d.next())
	case Map5:
		return d.listed(m, &evex5, pp, 'M', d.next())
	case Map6:
		return d.listed(m, &evex6, pp, 'M', d.next())
	}
	d.fail(refused)
	return 'x'
}

// vector1 reads the operands of VEX and EVEX map 1, where a few opcodes have
// an imm8 and VZEROUPPER, VZEROALL (77) have no ModRM.
func (d *decoder) vector1() {
	switch d.in.Opcode {
	case 0x77:
		return
	case 0x70, 0x71, 0x72, 0x73, 0xC2, 0xC4, 0xC5, 0xC6:
		d.modrm()
		d.imm(1)
	default:
		d.modrm()
	}
}
