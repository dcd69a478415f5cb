package place

import "sonde/arch/amd64/insn"

// needsSpare reports whether a copy in the slot has to address the operand by a spare
// register.
func (p *Plan) needsSpare(slot uint64) bool {
	if !p.In.RIPRel {
		return false
	}
	_, near := insn.Distance(slot, p.Addr+uint64(p.In.Disp()))
	return !near || p.In.Prefix.Has(insn.P67)
}

// spare returns the register that the instruction, which has a RIP-relative operand, does
// not use: RSI, RDI or RBX. Beside ModRM.reg and VEX.vvvv, two at most, only CMPXCHG8B and
// CMPXCHG16B use one of them, which is RBX, and they have no ModRM.reg and no vvvv. MOVDIR64B
// and its kin take an address in ModRM.reg.
//
// Source: Intel SDM vol. 2, the instruction reference.
func (p *Plan) spare() int8 {
	in := &p.In
	for _, reg := range [...]int8{insn.RSI, insn.RDI} {
		if in.Reg() != reg && p.vvvv() != reg {
			return reg
		}
	}
	return insn.RBX
}

// vvvv is the register in VEX.vvvv or EVEX.vvvv; NoReg without them.
func (p *Plan) vvvv() int8 {
	at := p.In.OpOff - 1
	switch {
	case p.In.Prefix.Has(insn.PEVEX):
		at--
	case !p.In.Prefix.Has(insn.PVEX):
		return insn.NoReg
	}
	return int8(^p.Code[at] >> 3 & 15)
}

// respell makes the copy b address its operand by the spare register instead of by
// RIP: the displacement stays, and the register holds what RIP would be.
//
// Source: Intel SDM vol. 2, "ModR/M and SIB Bytes", "REX Prefixes", "The VEX Prefix", "EVEX".
func (p *Plan) respell(b []byte) {
	in := &p.In
	const disp32 = 2 << 6 // mod
	b[in.ModOff] = disp32 | in.ModRM&0x38 | byte(p.spare())
	const notB = 1 << 5 // B in VEX and EVEX is stored inverted
	switch {
	case in.Prefix.Has(insn.PEVEX):
		b[in.OpOff-3] |= notB
	case in.Prefix.Has(insn.PVEX):
		if b[in.OpOff-2] != 0xC5 || in.OpOff >= 3 && b[in.OpOff-3] == 0xC4 {
			b[in.OpOff-2] |= notB
		}
	case in.Prefix.Has(insn.PREX):
		escape := [...]uint8{insn.Map1B: 0, insn.Map0F: 1, insn.Map0F38: 2, insn.Map0F3A: 2}[in.Map]
		b[in.OpOff-1-escape] &^= insn.REXB
	}
}
