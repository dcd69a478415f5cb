//go:build tamago

package trap

// Enter calls code, a function of one word, as a trap's handler is called: with interrupts off, on this
// CPU's trap stack. What it does must end soon, and do no more than a handler may; there is no hit that
// could go on if it does not.
//
// Context: goroutine, not a trap.
func Enter(code, arg uintptr) (result uintptr)
