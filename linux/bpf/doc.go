// Package sysbpf is the system call bpf(2): programs of ring 3 make maps, load programs and attach them, with
// the kernel's own engine (package program).
//
//	call.go     the commands, and their arguments
//	file.go     descriptors: maps, programs, links, BTF
//	map.go      maps: what is in them, batch.go: many entries at once, pin.go, id.go, info.go
//	prog.go     loading, run.go: running once, with given data
//	link.go     attaching, raw.go: to raw tracepoints, tracing.go: to functions, with their arguments
//
// An object lives as long as a descriptor, a file in /sys/fs/bpf, a link or a program has it (program.Hold). What
// a process has is given back when it ends, since its descriptors are closed.
//
// Arguments are copied once, and lengths checked before anything is allocated. Errors are those of Linux, since
// libraries find out by them what a kernel can do. What is asked for and is not there is said once in the log.
//
// Rejected: to keep what only processes see, as the flags a map was made with, in tables by number. It lies with
// the object (program.Map, Extra), and goes with it.
package sysbpf
