// Package native executes machine code on the host, for the tests of what makes it.
//
// The code runs on a stack of its own, from a trampoline in assembly, on a locked thread. This is
// sound in a Go process:
//
//   - A goroutine is preempted only where the program counter is in a Go function that allows it.
//     Neither the code, nor the trampoline, nor the helpers here are, which are assembly, too: so
//     nothing walks a stack that has a frame of the code on it. That is also why helpers in Go are
//     out of the question here: they could be preempted.
//   - Signal handlers have a stack of their own, and get the goroutine from the thread, not from
//     R14.
//   - The code's memory and stacks are mapped, so that the garbage collector neither moves nor
//     frees what the code has addresses of.
//
// Code that does not end ends with the time limit of the test; code that faults ends the test.
package native
