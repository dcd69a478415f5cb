// Package proc implements processes and threads: how they begin, run, get signals and end.
// It follows Linux's rules but has no system calls; a Table is given the handler for those.
//
// A thread is a goroutine in a loop (run.go): a CPU runs the program until something
// happens, the loop handles that, and so on. So a system call is a function call in that
// goroutine, and blocking is ordinary Go. A thread runs on a CPU: arch/amd64/user on the
// machine, an interpreter of small scripts in tests.
//
// Before a thread lets the program run again, its loop checks one flag, work. To make a
// thread do something (handle a signal, stop, end), a caller notes it under Table.mu, sets
// the flag, puts a token into the thread's channel, and kicks its CPU. A call that blocks
// gets the channel from Cancel, and returns EINTR when it receives the token; whether the
// call is restarted is decided when the signal is delivered (deliver.go).
//
// Process 1 is the kernel. It has no threads. Programs that the kernel starts are its
// children, and it adopts orphans.
//
// Rejected: a lock per process. Parents, groups, stops, ends and pending signals form one
// tree of facts, and nearly every event concerns several of its nodes; a single lock needs
// no lock order. It is held for moments only: never while memory is copied, a file is used,
// or a goroutine sleeps.
//
// Locks: Table.mu, innermost. Functions whose comment says "mu held" are called
// with it.
package proc
