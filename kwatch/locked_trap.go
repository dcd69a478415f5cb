package kwatch

// Trap context. QEMU with several CPUs finds the hit of an atomic instruction, and lets an interrupt
// come before it executes that. What accesses the page in the interrupt is then reported as the hit:
// as a rule the LOCK CMPXCHG of a lock. Such a hit is recognized here: interrupts are off, what is
// watched has not changed, and the instruction's operand is elsewhere.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// lockedElsewhere reports whether the instruction before r.IP is LOCK CMPXCHG of memory that p does
// not watch. Only operands without an index are decoded: those that the compiler makes. It decodes
// by itself: if hits used package insn, that could not be probed.
func (a *around) lockedElsewhere(p *point, r *amd64.Regs) bool {
	for n := 4; n <= 9; n++ {
		if addr, ok := cmpxchg(a.code[codeBefore-n:codeBefore], r); ok {
			return !p.overlaps(addr, 8)
		}
	}
	return false
}

// cmpxchg returns the address of the operand of code, if that is LOCK CMPXCHG, whole, and its
// registers still hold what they held before it.
func cmpxchg(code []byte, r *amd64.Regs) (addr uintptr, ok bool) {
	if code[0] != 0xF0 {
		return 0, false
	}
	code, base := code[1:], int8(0)
	if code[0]&0xF0 == 0x40 {
		base = int8(code[0]&1) << 3
		code = code[1:]
	}
	if len(code) < 3 || code[0] != 0x0F || code[1] != 0xB1 {
		return 0, false
	}
	mod, rm, disp := code[2]>>6, int8(code[2]&7), code[3:]
	ipRelative := mod == 0 && rm == insn.RBP
	base |= rm
	switch {
	case mod == 3 || rm == insn.RSP || base == insn.RAX:
		return 0, false
	case ipRelative && len(disp) == 4:
		return uintptr(r.IP) + uintptr(int32At(disp)), true
	case mod == 0 && !ipRelative && len(disp) == 0:
		return uintptr(*r.Register(base)), true
	case mod == 1 && len(disp) == 1:
		return uintptr(*r.Register(base)) + uintptr(int8(disp[0])), true
	case mod == 2 && len(disp) == 4:
		return uintptr(*r.Register(base)) + uintptr(int32At(disp)), true
	}
	return 0, false
}

func int32At(b []byte) int32 {
	return int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}
