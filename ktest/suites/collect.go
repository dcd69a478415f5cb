package suites

import (
	"runtime"
	"runtime/debug"
)

// NoCollection lets no collection of garbage run until restore is called. It is for cases where a
// CPU does not yield until another goroutine has done something. A collection stops all goroutines,
// one after the other: those that have stopped wait for that CPU, and it waits for them.
func NoCollection() (restore func()) {
	percent := debug.SetGCPercent(-1)
	runtime.GC() // ends the one that has begun
	return func() { debug.SetGCPercent(percent) }
}
