package kwatch

// Trap context, and goroutines.

import "sonde/arch/amd64"

// resume lets a watched instruction be executed now.
func resume(p *point, r *amd64.Regs) {
	if p.typ == Execute && uintptr(r.IP) == p.addr {
		r.Flags |= amd64.RFLAGS_RF
	}
}
