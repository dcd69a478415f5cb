//go:build tamago

package trap

// enter is what Entering returns. Go does not call it.
func enter()

// Entering returns the address of code to which a goroutine jumps to have the code at DI called as a trap's
// handler is: with interrupts off, on this CPU's trap stack, with the word in AX. It returns to where the
// goroutine has called what jumped. What is called must end soon, and do no more than a handler may; there
// is no hit that could continue if it does not.
//
// The arguments are in registers, because this is done at each hit of a program at a probe that is handled
// in a goroutine.
func Entering() uintptr
