package signal

// What TamaGo's drivers need to pass an interrupt to a goroutine: see
// runtime/sonde_drivers.go. Names and meanings are TamaGo's.

import "runtime"

// Waiting reports whether a signal that is sent now finds its receiver asleep.
func Waiting() bool { return runtime.SondeSignalWaiting() }

// Relay sends signal sig to channels that asked for it by Notify. It may be called in an
// interrupt, and by assembly.
func Relay(sig uint) { runtime.SondeSignal(uint32(sig)) }
