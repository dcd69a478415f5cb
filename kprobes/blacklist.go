package kprobes

import (
	"sonde/kallsyms"
	"sonde/kprobes/machine"
)

// noKprobe holds the names of the functions marked with NoKprobe.
var noKprobe []string

// NoKprobe marks a function that must not be probed, as NOKPROBE_SYMBOL does in Linux.
// Write it next to the function:
//
//	var _ = kprobes.NoKprobe("sonde/kernel/foo.bar")
//
// A name that no function has, because it is mistyped or the function was inlined, is
// reported when the first probe is registered.
//
// Context: package initialization.
func NoKprobe(name string) bool {
	noKprobe = append(noKprobe, name)
	return true
}

// Blacklisted returns every function that must not be probed, with the reason, which names
// the calls that lead there from a trap. A breakpoint in the code that handles breakpoints
// would recurse for ever; package reach finds that code by following the calls in the
// image. On the host the list is empty.
func Blacklisted() map[uint64]string { return machine.This.Blacklist() }

// NoProbe returns why the function at addr must not be probed, or "" if it may be.
func NoProbe(addr uintptr) string {
	_, off, _, _ := kallsyms.Lookup(uint64(addr))
	return Blacklisted()[uint64(addr)-off]
}

// Careful reports whether a handler, or anything that it calls, may change X0-X14, or IP or SP of
// the registers that it gets.
func Careful(handler any) bool { return machine.This.Careful(handler) }
