//go:build tamago

package cpu

import "sonde/kernel/goruntime"

// InHandler reports whether this runs in trap context: in an interrupt, or in the
// handler of a probe. A function that takes a lock must not continue then: the code
// below may hold the lock, and the code that ends the handler cannot give it back.
//
// Context: any.
func InHandler() bool { return goruntime.Task() == 0 }

// Forbid is for the beginning of functions that handlers may not call and that
// have no error to return: in trap context it does not return. The handler of a
// probe is abandoned for what; anything else panics.
//
// Context: any.
func Forbid(what string) {
	if InHandler() {
		goruntime.Abandon(what)
		panic("cpu: in trap context, something " + what)
	}
}
