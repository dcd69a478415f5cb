//go:build tamago

package kprobes

// Trap context. What happens between the jump of an optimized probe and the
// instructions behind it, but for what the detour does itself (detour_amd64.s).
// Interrupts are as the probed code has them (spec/4 §5), so that an interrupt's
// probes may come in between at any point: this CPU's phase is set before
// anything else, from then on those are nested hits.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
)

// onDetour is onBreakpoint for a hit of s by a jump.
func onDetour(r *amd64.Regs, s *site) {
	id := trap.ID(r)
	st := &states[id].state
	if st.phase != idle {
		s.countMissed(id)
		r.IP = uint64(s.resume.Load())
		return
	}
	st.phase = pre
	st.soft++
	st.frame = uintptr(unsafe.Pointer(r))
	st.site = uintptr(unsafe.Pointer(s))
	r.IP = uint64(s.addr) + 1
	st.begins(s, r)
	s.callPre(st, id, r)
}

// onDetourEager and onReturnEager are for when the rest may change X0-X14.
func onDetourEager(r *amd64.Regs, s *site) {
	trap.SaveXMM(r)
	onDetour(r, s)
}

func onReturnEager(r *amd64.Regs) {
	trap.SaveXMM(r)
	onReturn(r)
}
