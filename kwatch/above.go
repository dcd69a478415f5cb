package kwatch

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// For an unaligned store, QEMU 7.2 checks the whole page below it, so it reports hits of
// whatever is watched there. For the memory of programs, this file detects such stores.

// emulated says that the processor is QEMU's emulation.
var emulated bool

// Unseen says what a watchpoint of that type does not see on this machine; "": nothing.
//
// Source: QEMU, accel/tcg: with several CPUs, atomic operations go to memory directly where reads are watched.
func Unseen(t Type) string {
	if !emulated || this.cpus() == 1 || t != ReadWrite && t != Read {
		return ""
	}
	return "locked instructions are not seen: QEMU's emulation of several CPUs does not watch reads and writes of LOCK and XCHG"
}

// above reports whether the instruction before r.IP is certain to be such a store: in p's
// page, and above what p watches. at is the address it stores to. The instruction's
// beginning is not known, so all instructions that end at IP are tried.
func (a *around) above(p *point, r *amd64.Regs) (at uintptr, is bool) {
	if p.overlaps(uintptr(r.SP)-64, 128) {
		return 0, false // CALL, PUSH and the like
	}
	var regs [16]uint64
	r.General(&regs)
	for k := codeBefore - a.skip; k > 0; k-- {
		in, err := insn.Decode(a.code[codeBefore-k : codeBefore])
		switch {
		case err != nil || int(in.Len) != k:
			continue
		case in.Map == insn.Map1B && in.Opcode >= 0xA4 && in.Opcode <= 0xAF && in.Opcode&^1 != 0xA8: // MOVS and similar ones
			if p.overlaps(uintptr(r.DI)-64, 128) || p.overlaps(uintptr(r.SI)-64, 128) {
				return 0, false
			}
			continue
		case !in.HasMem() && in.Opcode&^3 != 0xA0:
			continue
		}
		m, ok := in.MemOperand()
		if !ok || m.Seg != insn.SegNone || in.Flow != insn.Next || overwrites(&in, &m) {
			return 0, false
		}
		to := uintptr(m.Addr(&regs, r.IP))
		if to < p.addr+uintptr(p.length) {
			return 0, false
		}
		if to&7 != 0 && to>>12 == p.addr>>12 {
			at, is = to, true
		}
	}
	return at, is
}

// overwrites reports whether in may change the registers of its operand m.
func overwrites(in *insn.Inst, m *insn.Mem) bool {
	reg := in.Reg()
	if in.Map == insn.Map1B && (in.Opcode == 0x88 || in.Opcode == 0x89 || in.Opcode&0xFC == 0x80 || in.Opcode&^1 == 0xC6 ||
		in.Opcode < 0x40 && in.Opcode&7 < 2) { // stores, and groups without another result
		return false
	}
	for _, x := range [...]int8{m.Base, m.Index} {
		if x != insn.NoReg && (x == reg || x == insn.RAX || x == insn.RDX || x == insn.RSP) {
			return true
		}
	}
	return false
}
