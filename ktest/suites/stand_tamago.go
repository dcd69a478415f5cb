//go:build tamago

package suites

import (
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/kernel/grace"
)

// Standing is a CPU that stands in a handler of a case's, which is trap context.
type Standing struct {
	at       atomic.Int32 // 1 more than the CPU, 0: none does
	released atomic.Bool
}

// Stand is called by the handler. The first that calls it returns when Passed has looked, or when nothing has come to
// look for 20 s; the others return at once.
//
// Context: trap.
func (h *Standing) Stand() {
	if h.released.Load() || !h.at.CompareAndSwap(0, int32(cpu.ID())+1) {
		return
	}
	for end := cpu.Nanotime() + 20e9; !h.released.Load() && cpu.Nanotime() < end; {
		cpu.Pause()
	}
	h.at.Store(0)
}

// Stands reports whether a CPU does.
func (h *Standing) Stands() bool { return h.at.Load() != 0 }

// Passed reports whether a grace period that begins now counts the CPU that stands as one that is outside of all probes,
// and whether it has stood until that was known. It releases the CPU.
func (h *Standing) Passed() (stood, passed bool) {
	at := h.at.Load()
	s := grace.Now()
	for i := range cpu.Num() {
		if int32(i)+1 != at {
			s[i]-- // the others have passed
		}
	}
	passed = s.Passed()
	stood = at != 0 && h.at.Load() == at
	h.released.Store(true)
	return stood, passed
}
