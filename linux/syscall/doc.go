// Package syscall implements the system calls of Linux for x86-64, using the kernel's own
// processes, memory and files.
//
// table.go lists them all, with what is missing in those that are incomplete. A call is a
// small function: it decodes its arguments, calls another package to do the work, and
// copies the results out. It accesses programs' memory only by copying (user.go). Errors
// are those of Go's package syscall, possibly wrapped; here they become the negative
// numbers that programs see.
//
// A call that does not exist returns ENOSYS. The log names it once per program, and Unknown
// counts it.
//
// Rejected: a big switch. strace, the documentation and the tests also read the table.
package syscall
