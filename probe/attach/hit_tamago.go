//go:build tamago

package attach

import (
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
)

// CPU returns the CPU that the hit is on, from 0.
//
// Context: the handler.
func (h *Hit) CPU() int { return cpu.ID() }

// Time returns the time since boot, in nanoseconds.
//
// Context: the handler.
func (h *Hit) Time() int64 { return cpu.Nanotime() }

// Goid returns the number of the goroutine that was hit, or that the thread of a program runs in;
// 0: none, the hit is in the scheduler, in an interrupt, or where a program's breakpoint arrives.
//
// Context: the handler.
func (h *Hit) Goid() uint64 {
	switch {
	case h.MayBlock:
		return goruntime.Goid(goruntime.Self())
	case h.Place.Site.Kind == Program:
		return 0 // h.Regs are no trap's
	}
	return goruntime.Goid(trap.G(h.Regs))
}
