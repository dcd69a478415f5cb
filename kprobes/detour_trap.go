//go:build tamago

package kprobes

// Trap context. What happens between the jump of an optimized probe and the
// instructions behind it. Interrupts are as the probed code has them (spec/4
// §5), so that an interrupt's probes may come in between at any point: this
// CPU's phase is set before anything else, from then on those are nested hits.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
)

// detourHead is what a detour begins with. Its address is what the
// copy of trap.detour in it passes on, in Regs.Err.
type detourHead struct {
	site   uintptr // the *site, which the table keeps alive
	resume uintptr // where its copy of the region goes on
}

// onDetour is onBreakpoint for a site that is hit by a jump.
func onDetour(r *amd64.Regs) {
	p := uintptr(r.Err)
	h := *(**detourHead)(unsafe.Pointer(&p)) // Safe because: detours are given back after a grace period
	s := asSite(h.site)
	id := trap.ID(r)
	st := &states[id].state
	if st.phase != idle {
		s.countMissed(id)
		r.IP = uint64(h.resume)
		return
	}
	st.phase = pre
	st.soft++
	st.frame = uintptr(unsafe.Pointer(r))
	st.site = h.site
	st.resume = h.resume
	r.IP = uint64(s.addr) + 1
	sole := s.sole.Load()
	if sole == 0 {
		st.begins(s, r)
		s.callPre(st, id, r)
		return
	}
	st.list = 0
	k := asProbe(sole)
	n := &k.ledger[id].n
	n[entered]++
	if k.kind == kindKretprobe {
		asKretprobe(k).enter(st, id, r)
	} else {
		st.begin(k)
		k.PreHandler(k, r) // a changed r.IP is ignored: spec/4 §1.4, note
		st.end()
		n[handled]++
	}
	st.leaveDetour(r)
}

// leaveDetour ends a hit that came by a detour.
func (st *state) leaveDetour(r *amd64.Regs) {
	r.IP = uint64(st.resume)
	st.resume = 0
	st.phase = idle
}
