// Package syscall is the system calls of Linux for x86-64, on top of the kernel's
// own processes, memory and files.
//
// table.go lists them all, with what is missing of those that are there in part.
// A call is a small function: it decodes its arguments, asks another package to
// do what the call is about, and copies the results out. Programs' memory is used by
// copies only (user.go). Errors are those of package syscall of Go's library, wherever
// they are wrapped; here they become the negative numbers that programs see.
//
// A call that is not there returns ENOSYS. The log names it once per program, and
// Unknown counts it.
//
// Rejected: a big switch. A table is also what strace, the documentation and the
// tests read.
package syscall
