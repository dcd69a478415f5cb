//go:build tamago

package trap

// Trap context. #DB, decoded from DR6: the end of a single step, a watchpoint of the debug
// registers, or both at once. This is done below the code that steps and the code that watches, so
// that neither depends on the other.
//
// Reading DR6 makes a step a tenth slower, and without watchpoints every #DB is a step. So #DB goes
// straight to the stepping code until something is watched.
//
// The processor only sets bits of DR6. All are cleared here each time: a bit of an earlier trap
// would be taken for this one's.

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
)

// A Watcher takes the hits of watchpoints: bit n of which is debug register n. If stepped is true a
// single step ended with the same instruction, which is reported to the stepping code when the
// Watcher returns; one that does not return calls Stepped itself.
//
// Context: trap, with X0-X14 not saved.
type Watcher func(r *amd64.Regs, which uint64, stepped bool)

var (
	watcher Watcher
	stepper Handler // handles #DB while nothing is watched
	apart   bool    // #DB is decoded

	// armed is what every CPU watches, including one that starts later. Written by the caller of
	// Watch, one at a time.
	armed struct {
		addr [debugreg.Num]uint64
		dr7  uint64
	}
	// watching is the enabled registers of this CPU. Each CPU writes its own.
	watching [MaxCPUs]uint64
)

// SetWatcher sets the function that takes the hits.
//
// Context: boot.
func SetWatcher(w Watcher) { watcher = w }

// Executes reports whether execution at addr is watched.
//
// Context: any.
func Executes(addr uintptr) bool {
	dr7 := atomic.LoadUint64(&armed.dr7)
	for n := range debugreg.Num {
		if dr7>>(2*n)&3 != 0 && dr7>>(16+4*n)&3 == 0 && atomic.LoadUint64(&armed.addr[n]) == uint64(addr) {
			return true
		}
	}
	return false
}

// LoadWatch makes this CPU watch what Watch has set.
//
// Context: interrupts off.
func LoadWatch() {
	dr7 := atomic.LoadUint64(&armed.dr7)
	id := int(Self().ID)
	if idt != nil {
		stepDone(id)
	}
	watching[id] = debugreg.Enabled(dr7)
	Self().Ring3.stepsWith(watching[id] != 0)
	debugreg.Load(&armed.addr, dr7|debugreg.DR7_FIXED)
}

func takeDebug(r *amd64.Regs) {
	dr6 := debugreg.ReadDR6()
	debugreg.WriteDR6(debugreg.DR6_FIXED)
	if stepping[ID(r)] != noStep {
		stepDone(ID(r))
	}
	if !lazy {
		SaveXMM(r)
	}
	which, stepped := debugreg.Hits(dr6, watching[ID(r)]), dr6&debugreg.DR6_BS != 0
	if which == 0 && !stepped && dr6&(debugreg.DR6_B0|debugreg.DR6_B1|debugreg.DR6_B2|debugreg.DR6_B3) != 0 {
		r.Flags |= amd64.RFLAGS_RF // of a register that LoadWatch has not turned off yet: it may watch LoadWatch
		return
	}
	if stepped {
		which = hitInStep(r, which)
	}
	if which != 0 {
		watcher(r, which, stepped)
		if !stepped {
			PrepareStep(r) // of a step that was interrupted
			return
		}
	}
	Stepped(r)
}

// Stepped reports the end of a step, at r, to the stepping code.
//
// Context: trap.
func Stepped(r *amd64.Regs) {
	stepper(r)
	PrepareStep(r)
}
