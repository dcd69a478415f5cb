//go:build linux

package main

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// particular says why a process cannot repeat an instruction as the kernel executed it,
// "" if it can. mem: the memory it names has been observed.
func particular(in *insn.Inst, mem bool) string {
	const special = insn.Pushf | insn.Popf | insn.Cli | insn.Sti | insn.Shadow | insn.Machine | insn.Wait | insn.Hyper | insn.Tx
	switch {
	case in.Trait.Has(special) || in.Flow > insn.CallInd || privileged(in):
		return "it is the kernel's alone, or about interrupts"
	case in.Trait.Has(insn.String):
		return "it is a string instruction"
	case vector(in):
		return "it is about vector registers or x87"
	case in.HasMem() && !mem && !addressOnly(in):
		return "its memory was not observed"
	}
	return ""
}

// privileged are instructions that a process must not execute, or that answer differently
// each time.
func privileged(in *insn.Inst) bool {
	op := in.Opcode
	switch in.Map {
	case insn.Map1B:
		return op >= 0xE4 && op <= 0xE7 || op >= 0xEC && op <= 0xEF || op == 0x8E || op == 0x8C
	case insn.Map0F:
		return op <= 0x0C || op >= 0x20 && op <= 0x23 || op >= 0x30 && op <= 0x37 || op == 0xA2 || op == 0xC7 && in.Group() != 1
	}
	return false
}

// vector reports whether an instruction may use registers that have not been observed.
func vector(in *insn.Inst) bool {
	op := in.Opcode
	general38 := op == 0xF0 || op == 0xF1 || op == 0xF2 || op == 0xF3 || op == 0xF5 || op == 0xF6 || op == 0xF7
	switch {
	case in.Map == insn.Map0F38:
		return !general38
	case in.Map == insn.Map0F3A:
		return op != 0xF0
	case in.Prefix.Has(insn.PVEX | insn.PEVEX):
		return true
	case in.Map == insn.Map1B:
		return op >= 0xD8 && op <= 0xDF || op == 0x9B
	case in.Map == insn.Map0F:
		return op >= 0x10 && op <= 0x17 || op >= 0x28 && op <= 0x2F || op >= 0x50 && op <= 0x7F || op == 0xAE || op == 0xC2 ||
			op >= 0xC4 && op <= 0xC6 || op >= 0xD0 && op <= 0xFE
	}
	return true
}

// addressOnly are instructions that name memory and leave it alone.
func addressOnly(in *insn.Inst) bool {
	return in.Map == insn.Map1B && in.Opcode == 0x8D || in.Map == insn.Map0F && (in.Opcode == 0x1F || in.Opcode == 0x18 || in.Opcode == 0x0D || in.Opcode == 0x1E)
}

const (
	cf, pf, af = amd64.RFLAGS_CF, amd64.RFLAGS_PF, amd64.RFLAGS_AF
	zf, sf, of = amd64.RFLAGS_ZF, amd64.RFLAGS_SF, amd64.RFLAGS_OF
)

// undefinedFlags are the flags of which the manual says that an instruction leaves them
// undefined: QEMU and processors differ there.
//
// Source: Intel SDM vol. 1, "EFLAGS Cross-Reference".
func undefinedFlags(in *insn.Inst) uint64 {
	switch in.Map {
	case insn.Map1B:
		return undefined1(in.Opcode, in.Group())
	case insn.Map0F:
		return undefined2(in)
	case insn.Map0F38: // ANDN, BLSI and its kin, BZHI, BEXTR
		return pf | af | sf
	}
	return 0
}

func undefined1(op, group uint8) uint64 {
	switch {
	case op == 0x69 || op == 0x6B: // IMUL
		return sf | zf | af | pf
	case op >= 0x80 && op <= 0x83 && (group == 1 || group == 4 || group == 6), // OR, AND, XOR
		op < 0x40 && op&7 < 6 && (op>>3 == 1 || op>>3 == 4 || op>>3 == 6),
		op == 0x84 || op == 0x85 || op == 0xA8 || op == 0xA9: // TEST
		return af
	case op == 0xC0 || op == 0xC1 || op >= 0xD0 && op <= 0xD3: // shifts and rotations
		return af | of
	case (op == 0xF6 || op == 0xF7) && group >= 6: // DIV, IDIV
		return cf | pf | af | zf | sf | of
	case (op == 0xF6 || op == 0xF7) && group >= 4: // MUL, IMUL
		return sf | zf | af | pf
	case (op == 0xF6 || op == 0xF7) && group < 2: // TEST
		return af
	}
	return 0
}

func undefined2(in *insn.Inst) uint64 {
	switch op := in.Opcode; {
	case op == 0xAF: // IMUL
		return sf | zf | af | pf
	case op == 0xA4 || op == 0xA5 || op == 0xAC || op == 0xAD: // SHLD, SHRD
		return af | of
	case (op == 0xBC || op == 0xBD) && in.Prefix.Has(insn.PF3): // TZCNT, LZCNT
		return of | sf | af | pf
	case op == 0xBC || op == 0xBD: // BSF, BSR
		return cf | of | sf | af | pf
	case op == 0xA3 || op == 0xAB || op == 0xB3 || op == 0xBB || op == 0xBA: // BT and its kin
		return of | sf | af | pf
	}
	return 0
}
