// Package die handles failures: it decides what an exception means, and ends the kernel
// when it cannot continue. The outcomes:
//
//   - a nil dereference or a division by zero in a goroutine is a Go panic;
//   - an int3 that belongs to no probe is reported, and execution continues;
//   - an overflow of a trap stack, a double fault and any other exception print the registers, a
//     backtrace and the CPU, and stop the machine;
//   - so does the Go runtime when it gives up: panic, stack overflow, out of memory.
//
// No failure ends in a silent reset.
package die
