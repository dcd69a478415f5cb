package live

import "sonde/arch/amd64/insn"

// Flags is a set of the flags that arithmetic sets, as they lie in RFLAGS. DF, IF and the like are not among them.
type Flags uint16

// The flags.
const (
	CF Flags = 1 << 0
	PF Flags = 1 << 2
	AF Flags = 1 << 4
	ZF Flags = 1 << 6
	SF Flags = 1 << 7
	OF Flags = 1 << 11

	all   = CF | PF | AF | ZF | SF | OF
	logic = all &^ AF // AND, OR, XOR and TEST leave AF undefined
	byAH  = all &^ OF // of LAHF and SAHF
)

// FlagsOf returns the flags that an instruction may read, and those that it writes in any case, whatever they were
// before. What it leaves undefined is not written. An instruction that is not known reads all.
//
// Context: any.
// Source: Intel SDM vol. 1, "EFLAGS Cross-Reference"; vol. 2, "Flags Affected" of each instruction.
func FlagsOf(in *insn.Inst) (reads, writes Flags) {
	if in.Prefix.Has(insn.PVEX | insn.PEVEX) {
		return 0, ofVector(in)
	}
	switch in.Map {
	case insn.Map1B:
		return of1(in)
	case insn.Map0F:
		return of0F(in)
	case insn.Map0F38:
		switch op := in.Opcode; {
		case op == 0x17: // ptest
			return 0, all
		case op < 0x80, op >= 0xC8 && op < 0xF0, op == 0xF0, op == 0xF1: // SSE, AES, SHA, movbe, crc32
			return 0, 0
		}
	case insn.Map0F3A:
		if in.Opcode>>2 == 0x60>>2 { // pcmpestrm and its kin
			return 0, all
		}
		return 0, 0
	}
	return all, 0
}

// ofVector returns what instructions with VEX or EVEX write; none reads flags. Of what others write, nothing is said.
func ofVector(in *insn.Inst) (writes Flags) {
	if in.Map == insn.Map0F && (in.Opcode == 0x2E || in.Opcode == 0x2F) { // vucomis, vcomis
		return all
	}
	return 0
}

// conditions are what the conditions of jumps read, without their last bit.
var conditions = [8]Flags{OF, CF, ZF, CF | ZF, SF, PF, SF | OF, SF | OF | ZF}

func condition(in *insn.Inst) Flags { return conditions[in.Cond()>>1] }

// arithmetic is ADD, OR, ADC, SBB, AND, SUB, XOR and CMP, by number.
func arithmetic(op uint8) (reads, writes Flags) {
	switch op {
	case 2, 3:
		return CF, all
	case 1, 4, 6:
		return 0, logic
	}
	return 0, all
}

func of1(in *insn.Inst) (reads, writes Flags) {
	op := in.Opcode
	switch {
	case op < 0x40 && op&7 < 6:
		return arithmetic(op >> 3)
	case op>>4 == 5, op>>3 == 0x90>>3, op>>4 == 0xB, op >= 0xA0 && op <= 0xA5, op >= 0xAA && op <= 0xAD:
		return 0, 0 // push, pop, xchg, mov, movs, stos, lods
	case op>>4 == 7:
		return condition(in), 0
	}
	switch op {
	case 0x80, 0x81, 0x83:
		return arithmetic(in.Group())
	case 0x84, 0x85, 0xA8, 0xA9: // test
		return 0, logic
	case 0x63, 0x68, 0x6A, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8B, 0x8D, 0x8F, 0x98, 0x99, 0xC2, 0xC3, 0xC9, 0xE2, 0xE3, 0xE8, 0xE9, 0xEB, 0xFC, 0xFD:
		return 0, 0 // movsxd, push, xchg, mov, lea, pop, cbw, cwd, ret, leave, loop, jrcxz, call, jmp, cld, std
	case 0xC6, 0xC7: // mov; xabort and xbegin are no Next
		if in.Flow == insn.Next {
			return 0, 0
		}
	case 0x69, 0x6B: // imul
		return 0, CF | OF
	case 0x9D: // popf
		return 0, all
	case 0x9E: // sahf
		return 0, byAH
	case 0x9F: // lahf
		return byAH, 0
	case 0xC0, 0xC1, 0xD0, 0xD1, 0xD2, 0xD3:
		return shift(in)
	case 0xE0, 0xE1: // loopne, loope
		return ZF, 0
	case 0xF5: // cmc
		return CF, CF
	case 0xF8, 0xF9: // clc, stc
		return 0, CF
	case 0xF6, 0xF7:
		return group3(in.Group())
	case 0xFE, 0xFF:
		if in.Group() < 2 { // inc, dec
			return 0, all &^ CF
		}
		return 0, 0 // calls, jumps, push
	}
	return all, 0
}

// group3 is TEST, TEST, NOT, NEG, MUL, IMUL, DIV and IDIV, by number.
func group3(op uint8) (reads, writes Flags) {
	switch op {
	case 0, 1:
		return 0, logic
	case 3:
		return 0, all
	case 4, 5:
		return 0, CF | OF
	}
	return 0, 0
}

// shift is ROL, ROR, RCL, RCR, SHL, SHR, SHL and SAR, by number. A count of 0 writes nothing.
func shift(in *insn.Inst) (reads, writes Flags) {
	op := in.Group()
	if op == 2 || op == 3 {
		reads = CF
	}
	wide, count := in.Opcode&1 != 0 && !in.Prefix.Has(insn.P66), uint64(1)
	switch in.Opcode {
	case 0xC0, 0xC1:
		count = in.Imm() & 31
		if in.REX&insn.REXW != 0 {
			count = in.Imm() & 63
		}
	case 0xD2, 0xD3: // by CL
		return reads, 0
	}
	if op < 4 || !wide || count == 0 {
		return reads, 0
	}
	if count == 1 {
		return 0, logic
	}
	return 0, CF | SF | ZF | PF
}

func of0F(in *insn.Inst) (reads, writes Flags) {
	op := in.Opcode
	switch {
	case op>>4 == 4, op>>4 == 8, op>>4 == 9: // cmov, jcc, set
		return condition(in), 0
	case op == 0x0D, op >= 0x10 && op <= 0x1F, op >= 0x28 && op <= 0x2D, op >= 0x50 && op <= 0x77, op >= 0x7C && op <= 0x7F,
		op>>3 == 0xC8>>3, op >= 0xD0 && op <= 0xFE: // SSE, MMX, nop, prefetch, bswap
		return 0, 0
	}
	switch op {
	case 0x2E, 0x2F, 0xB0, 0xB1, 0xC0, 0xC1: // ucomis, comis, cmpxchg, xadd
		return 0, all
	case 0x31, 0xA2, 0xAE, 0xB6, 0xB7, 0xBE, 0xBF, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6:
		return 0, 0 // rdtsc, cpuid, fences, movzx, movsx, SSE
	case 0xA4, 0xA5, 0xAC, 0xAD: // shld, shrd
		return 0, 0
	case 0xA3, 0xAB, 0xB3, 0xBA, 0xBB: // bt and its kin
		return 0, CF
	case 0xAF: // imul
		return 0, CF | OF
	case 0xB8: // popcnt
		if in.Prefix.Has(insn.PF3) {
			return 0, all
		}
	case 0xBC, 0xBD: // bsf, bsr, tzcnt, lzcnt
		return 0, ZF
	case 0xC7: // cmpxchg8b, cmpxchg16b
		if in.Group() == 1 && in.HasMem() {
			return 0, ZF
		}
	}
	return all, 0
}
