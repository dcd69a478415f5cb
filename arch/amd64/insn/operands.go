package insn

// operands reads the bytes after the opcode, as the opcode's letter in the table says.
func (d *decoder) operands(shape byte) {
	switch shape {
	case '.':
	case 'M':
		d.modrm()
	case 'C': // mov to and from CR, DR: mod is ignored, rm is a register
		d.in.ModOff, d.in.HasModRM = d.pos, true
		d.in.ModRM = d.next() | 0xC0
	case 'b':
		d.imm(1)
	case 'w':
		d.imm(2)
	case 'e':
		d.imm(3)
	case 'z':
		d.imm(d.immZ())
	case 'v':
		d.imm(d.immV())
	case 'B':
		d.modrm()
		d.imm(1)
	case 'Z':
		d.modrm()
		d.immOrRel(d.immZ())
	case 'j':
		d.relative(1)
	case 'J':
		d.rel()
	case 'o':
		d.moffs()
	case 'V':
		d.vector1()
	case 't', 'T', 's', '3':
		d.odd(shape)
	default:
		d.refuse()
	}
}

// odd reads operands that depend on more than the opcode.
func (d *decoder) odd(shape byte) {
	d.modrm()
	switch shape {
	case 't': // F6: test has an immediate, not, neg, mul, div have none
		if d.in.Group() < 2 {
			d.imm(1)
		}
	case 'T': // F7
		if d.in.Group() < 2 {
			d.imm(d.immZ())
		}
	case 's': // 0F 78: vmread, but extrq, insertq imm8, imm8 with 66, F2
		if d.in.Prefix.Has(P66 | PF2) {
			d.imm(2)
		}
	case '3': // 3DNow!: the opcode proper is where an immediate would be
		d.imm(1)
		if !is3DNow(d.in.Imm()) {
			d.fail(invalid)
		}
	}
}

// refuse fails for an opcode that has no shape.
func (d *decoder) refuse() {
	if d.in.Map == Map1B && d.in.Opcode == 0xD5 { // REX2
		d.fail(refused)
	}
	d.fail(invalid)
}

func (d *decoder) imm(n uint8) {
	off, v := d.field(n)
	d.in.ImmOff, d.in.ImmLen, d.in.imm = off, n, int64(v)
}

// relative reads a branch displacement of n bytes.
func (d *decoder) relative(n uint8) {
	off, v := d.field(n)
	d.in.RelOff, d.in.RelLen, d.in.imm = off, n, extend(v, n)
}

// displacement reads a memory operand's displacement of n bytes.
func (d *decoder) displacement(n uint8) {
	off, v := d.field(n)
	d.in.DispOff, d.in.DispLen, d.in.disp = off, n, extend(v, n)
}

// immOrRel reads the immediate of 81, 69, C7; for C7 F8, XBEGIN, it is a branch displacement.
func (d *decoder) immOrRel(n uint8) {
	if d.in.Opcode == 0xC7 && d.in.ModRM == 0xF8 {
		d.relative(n)
		return
	}
	d.imm(n)
}

// immZ is the immediate that does not grow beyond 32 bits; W overrides 66.
func (d *decoder) immZ() uint8 {
	if d.in.Prefix.Has(P66) && d.in.REX&REXW == 0 {
		return 2
	}
	return 4
}

// immV is the immediate of B8..BF, the only one with 64 bits.
func (d *decoder) immV() uint8 {
	if d.in.REX&REXW != 0 {
		return 8
	}
	return d.immZ()
}

// rel reads the displacement of a near branch. With 66 alone its size depends on the vendor of the
// processor.
func (d *decoder) rel() {
	if d.immZ() != 4 {
		d.fail(refused)
	}
	d.relative(4)
}

// moffs reads the absolute address of A0..A3, which has the address size.
func (d *decoder) moffs() {
	n := uint8(8)
	if d.in.Prefix.Has(P67) {
		n = 4
	}
	d.displacement(n)
}

// modrm reads ModRM, SIB and displacement.
//
// Source: Intel SDM vol. 2, "ModR/M and SIB Bytes", "RIP-Relative Addressing".
func (d *decoder) modrm() {
	in := &d.in
	in.ModOff, in.HasModRM = d.pos, true
	in.ModRM = d.next()
	if d.err == whole {
		d.fail(d.group())
	}
	mod, base := in.Mod(), in.ModRM&7
	if mod == 3 {
		return
	}
	if base == 4 {
		in.HasSIB, in.SIB = true, d.next()
		base = in.SIB & 7
	}
	switch {
	case mod == 1:
		d.displacement(1)
	case mod == 2 || base == 5: // with mod 0, base 5 is a disp32 instead of RBP
		d.displacement(4)
		in.RIPRel = mod == 0 && !in.HasSIB
	}
}

// group returns refused if the ModRM byte just read makes the opcode undefined, otherwise whole.
func (d *decoder) group() failure {
	in := &d.in
	if in.Map == Map1B && in.Opcode == 0x8F && in.ModRM&31 >= 8 {
		return refused // XOP: this byte is not ModRM but holds a map number
	}
	mem, reg := groups(in)
	if in.Mod() == 3 {
		mem = reg
	}
	if mem>>in.Group()&1 == 0 {
		return invalid
	}
	return whole
}
