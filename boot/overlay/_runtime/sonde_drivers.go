package runtime

// What TamaGo's drivers ask of a runtime beyond the stock one's: names and
// meanings are TamaGo's.
//
// Why it is here: the drivers find it in package runtime; and os/signal, whose
// part is in sonde_signal.go there, can be reached from an interrupt only by what
// the runtime knows of it.

import (
	"internal/cpu"
	machine "runtime/goos"
)

// CPU returns the processor's name.
func CPU() string { return cpu.Name() }

// MemRegion returns the memory that the runtime allocates from, [start, end).
func MemRegion() (start, end uint) {
	return machine.RamStart, machine.RamStart + machine.RamSize
}

// SondeSignalWaiting reports whether the goroutine that passes on signals sleeps:
// then the next one is not lost.
func SondeSignalWaiting() bool { return sig.state.Load() == sigReceiving }

// SondeSignal sends signal s to channels that asked for it by signal.Notify, and reports
// whether anybody did. It may be called in an interrupt.
func SondeSignal(s uint32) bool { return sigsend(s) }
