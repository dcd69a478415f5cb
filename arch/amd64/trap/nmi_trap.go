//go:build tamago

package trap

// Trap context. NMIs, whose handlers may hit breakpoints.
//
// An NMI can come anywhere, also while an entry stub has not yet taken its frame
// away from the entry stack, and the handler of the NMI may trap itself: the
// processor would push on top of that frame. So while an NMI is handled the entry
// stacks begin further down.
//
// NMIs are blocked while one is handled, but only until the next IRETQ, and that
// may be a breakpoint's in the handler. An NMI that comes then finds nmi set. It
// leaves a note (again) and returns; the first begins once more. At the very end,
// with nmi no longer set, one may come on top of the frame that is about to be
// returned from: entryNMI sees that it came from this stack and stays below.
//
// The NMI may come while the entry of #DB has not yet read DR6, and its handler may hit
// a watchpoint, whose #DB clears DR6. So what DR6 says belongs to what was interrupted:
// it is put away, and put back at the end. Without watchpoints nothing reads it.
//
// #DF and #MC do none of this: nothing returns from them.
//
// Rejected: a stack pointer in memory from which each NMI takes its stack (the
// processor pushes before it is asked), and handlers that never trap (any package may
// join the notifier chain).
//
// Source: Intel SDM vol. 3A, "Handling Multiple NMIs". The note left to the first
// is the idea of Linux arch/x86/entry/entry_64.S, "repeat_nmi".

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
)

// entryShift is how much lower the entry stacks begin, in bytes: more than any stub pushes.
const entryShift = 1 << 10

// nmiHandler is the handler that SetNMI has set.
var nmiHandler Handler

// SetNMI makes h the handler of NMIs. If several come while h runs, h is called once more.
//
// Context: boot.
func SetNMI(h Handler) {
	nmiHandler = h
	handlers[amd64.VEC_NMI] = takeNMI
}

func takeNMI(r *amd64.Regs) {
	c := Self()
	for {
		atomic.StoreUint32(&c.nmi, 1) // first: one that comes now must not shift the entries back
		c.shiftEntries(entryShift)    // no trap up to here
		watched, dr6 := apart, uint64(0)
		if watched {
			dr6 = debugreg.ReadDR6()
			debugreg.WriteDR6(debugreg.DR6_FIXED)
		}
		nmiHandler(r)
		if watched {
			debugreg.WriteDR6(dr6)
		}
		atomic.StoreUint32(&c.nmi, 0) // and none from here on
		c.shiftEntries(0)
		if atomic.SwapUint32(&c.again, 0) == 0 {
			return
		}
	}
}

// InNMI reports whether CPU id handles an NMI.
//
// Context: any.
func InNMI(id int) bool { return atomic.LoadUint32(&cpus[id].nmi) != 0 }

// shiftEntries makes the entry stacks begin n bytes below their tops.
func (c *CPU) shiftEntries(n uintptr) {
	c.tss.SetIST(istTrap, uint64(c.ist[istTrap]-n))
	c.tss.SetIST(istDebug, uint64(c.ist[istDebug]-n))
}
