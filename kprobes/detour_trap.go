//go:build tamago

package kprobes

// Trap context. What happens between the jump of an optimized probe and the
// instructions behind it, but for what the detour does itself (detour_amd64.s).
// Interrupts are as the probed code has them (spec/4 §5), so that an interrupt's
// probes may come in between at any point: this CPU's phase is set before
// anything else, from then on those are nested hits.

import (
	"runtime"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/probe"
	"sonde/kernel/text"
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
	st.begins(s, r)
	st.soft++
	r.IP = uint64(s.addr) + 1
	st.handOver(r)
	onBreakpoint(r)
}

// onNote is (*Kretprobe).note for rp behind a kprobe, where the detour does not deal
// with it itself. It calls no handler.
func onNote(r *amd64.Regs, rp *Kretprobe) {
	id := trap.ID(r)
	rp.KP.ledger.Count(id, probe.Entered)
	rp.note(&states[id].state, id, r)
}

// quiesceHits returns when every CPU has been outside all handlers. A handler that
// a trap called keeps interrupts off, so the interrupt of Sync comes after it; one
// that was called by a jump is waited for.
//
// Context: goroutine.
func quiesceHits() {
	text.Sync()
	for i := range cpu.Num() {
		st := &states[i].state
		for hits := atomic.LoadUint64(&st.soft); st.busy() && atomic.LoadUint64(&st.soft) == hits; {
			runtime.Gosched()
		}
	}
}

// onDetourEager, onNoteEager and onReturnEager are for when the rest may change X0-X14.
func onDetourEager(r *amd64.Regs, s *site) {
	trap.SaveXMM(r)
	onDetour(r, s)
}

func onNoteEager(r *amd64.Regs, rp *Kretprobe) {
	trap.SaveXMM(r)
	onNote(r, rp)
}

func onReturnEager(r *amd64.Regs) {
	trap.SaveXMM(r)
	onReturn(r)
}
