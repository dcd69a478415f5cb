//go:build tamago

package cpu

import "sync/atomic"

// SpinLock guards data that interrupts share with goroutines: interrupts are
// off while it is held. The zero SpinLock is free.
type SpinLock struct{ held atomic.Uint32 }

// Lock takes the lock and returns the flags for Unlock.
//
// Context: any but NMI.
func (l *SpinLock) Lock() (flags uint64) {
	flags = IRQOff()
	for !l.held.CompareAndSwap(0, 1) {
		Pause()
	}
	return flags
}

// Unlock gives the lock back.
func (l *SpinLock) Unlock(flags uint64) {
	l.held.Store(0)
	IRQRestore(flags)
}
