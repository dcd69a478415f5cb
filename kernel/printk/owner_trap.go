package printk

// Trap context. Which CPU writes to the console, and which is next.
//
// The caller that logs also writes to the console, and it also writes what others log
// meanwhile. If they log faster than the console writes, the first caller is held for as
// long as they continue; it may be a handler, which has a time limit. So once it has
// written a screenful, the next caller that logs waits until the current record is
// finished, and takes over. The price: that caller logs no faster than the console writes.
//
// A log for any context should not wait. This wait is for one record, of a CPU that is
// known to make progress, and it has a limit.
//
// Rejected: returning after a screenful (the last records of a burst would be shown only
// when something else is logged); a thread that writes (it does not run when a handler
// loops and the log matters most).
//
// Source: the idea is that of Linux 6.1 kernel/printk/printk.c,
// console_trylock_spinning.

import (
	"math"
	"sync/atomic"
	"unsafe"
)

const (
	// turn is how many records a CPU has to show before others wait to relieve it.
	turn = 100
	// relieveWithin is how long they wait at most, in ns: what a line takes at
	// 115,200 baud, twice.
	relieveWithin = 20_000_000
)

var (
	// consoleOwner has in its low half 1 more than the CPU that is at the console, in
	// its high half 1 more than the one that waits to relieve it; 0: none.
	consoleOwner atomic.Uint32
	consoleShown atomic.Uint32 // records, since it was taken

	// consoleStack is where the stack of the console's owner was when it took the
	// console; 0: about to be noted.
	consoleStack atomic.Uintptr

	// consoleStuck is the ticket that was next when a CPU gave up waiting: until it
	// is shown no CPU waits again.
	consoleStuck atomic.Uint64
)

const ownerMask = 1<<16 - 1

// me is how consoleOwner names this CPU.
func me() uint32 { return uint32(currentCPU()) + 1 }

// take takes the console if it is free.
func take() bool { return consoleOwner.CompareAndSwap(0, me()) }

// release gives the console to the CPU that waits for it, and reports whether there
// was one.
func release() (relieved bool) {
	for {
		if v := consoleOwner.Load(); consoleOwner.CompareAndSwap(v, v>>16) {
			return v>>16 != 0
		}
	}
}

// awaited reports whether a CPU waits for the console.
func awaited() bool { return consoleOwner.Load()>>16 != 0 }

// relieve takes over from a CPU that has had the console for long, and reports
// whether it did.
func relieve() bool {
	owner, me, since, task := consoleOwner.Load(), me(), now(), currentTask()
	if owner == 0 || owner == me || owner > ownerMask || since == 0 ||
		task == 0 || task == consoleTask.Load() || // this may be on top of it
		consoleShown.Load() < turn || consoleStuck.Load() == consoleNext.Load() ||
		!consoleOwner.CompareAndSwap(owner, owner|me<<16) {
		return false
	}
	for {
		v := consoleOwner.Load()
		switch {
		case v&ownerMask == me: // perhaps the next one waits already
			return true
		case v>>16 != me: // Flush or Rescue
			return false
		case now()-since > relieveWithin && consoleOwner.CompareAndSwap(v, v&ownerMask):
			consoleStuck.Store(consoleNext.Load())
			return false
		}
	}
}

// Flush shows everything there is, taking the console away from the CPU that
// holds it and stepping over unfinished records. It is for the moments before
// the machine stops: the holder may be the one that died.
//
// Context: any; only on the way down.
func Flush() {
	var here uintptr
	consoleOwner.Store(me())
	atConsole(uintptr(unsafe.Pointer(&here)))
	if consoleHook.Load() != nil {
		drain(math.MaxUint64)
	}
	leaveConsole()
	consoleOwner.Store(0)
}

// Rescue is called after the code on CPU id with its stack between lo and hi has been
// abandoned: if that code had the console or waited for it, Rescue releases it, and shows
// what is left. Interrupted code keeps the console.
//
// Context: any, on CPU id.
func Rescue(id int, lo, hi uintptr) {
	giveUp(uint32(id)+1, lo, hi)
	emit(log.next.Load())
}

func giveUp(me uint32, lo, hi uintptr) {
	for {
		v := consoleOwner.Load()
		rest := v
		if v>>16 == me {
			rest = v & ownerMask
		}
		if sp := consoleStack.Load(); v&ownerMask == me && (sp == 0 || lo <= sp && sp < hi) {
			leaveConsole()
			rest >>= 16
		}
		if consoleOwner.CompareAndSwap(v, rest) {
			return
		}
	}
}
