// Package proc is processes and threads: how they begin, run, are told things
// and end. It knows Linux's rules for them and none of the system calls; the
// handler of those is given to a Table.
//
// A thread is a goroutine in a loop (run.go): a CPU runs the program until
// something happens, the loop does what is to be done, and so on. So a system
// call is a function call in that goroutine, and to block is Go's to block. What a
// thread runs on is a CPU: arch/amd64/user on the machine, a player of small
// scripts in tests.
//
// A thread in its loop looks at one flag, work, before it lets the program run
// again. Whoever wants something of it (a signal, a stop, an end) says so under
// Table.mu, sets the flag, leaves a token in the thread's channel, and kicks its
// CPU. A call that blocks takes the channel from Cancel, and returns EINTR when
// it receives the token; whether the call is made again is decided when the
// signal is delivered (deliver.go).
//
// Process 1 is the kernel. It has no threads. What the kernel starts is its
// child, and it adopts orphans.
//
// Rejected: a lock per process. Who is whose parent, in which group, stopped,
// ended, and which signals wait are one tree of facts, and nearly every event
// touches several of its nodes; one lock for them needs no order. It is held for
// moments only: never while memory is copied, a file is used, or a goroutine
// sleeps.
//
// Locks: Table.mu, innermost. Functions whose comment says "mu held" are called
// with it.
package proc
