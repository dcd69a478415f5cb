// Package die is what happens when something goes wrong: it decides what an
// exception means, and it ends the kernel when there is no way on. The endings:
//
//   - a nil dereference or a division by zero in a goroutine is a Go panic;
//   - an int3 that belongs to no probe is reported, and execution goes on;
//   - running over a trap stack, a double fault and any other exception print
//     the registers, a backtrace and the CPU, and end the machine;
//   - so does the Go runtime when it gives up: panic, stack overflow, out of memory.
//
// Nothing ends in a silent reset.
package die
