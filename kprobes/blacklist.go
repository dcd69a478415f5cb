package kprobes

import (
	"sonde/kallsyms"
	"sonde/kprobes/machine"
)

// noKprobe are the functions marked with NoKprobe, by name.
var noKprobe []string

// NoKprobe marks a function as one that may not be probed, as Linux's
// NOKPROBE_SYMBOL does. Write it next to the function:
//
//	var _ = kprobes.NoKprobe("sonde/kernel/foo.bar")
//
// A name that no function has, because it is mistyped or the function inlined, is
// reported when the first probe is registered.
//
// Context: package initialization.
func NoKprobe(name string) bool {
	noKprobe = append(noKprobe, name)
	return true
}

// Blacklisted returns every function that may not be probed with the reason, which
// names the calls by which a trap comes to it. A breakpoint in the code that handles
// breakpoints would never end; what that code is, is computed from the calls in the
// image (package reach). Without a machine there is none.
func Blacklisted() map[uint64]string { return machine.This.Blacklist() }

// NoProbe returns why the function at addr may not be probed, "" if it may.
func NoProbe(addr uintptr) string {
	_, off, _, _ := kallsyms.Lookup(uint64(addr))
	return Blacklisted()[uint64(addr)-off]
}

// WritesSSE reports whether the func f may change X0-X14, whatever it calls.
func WritesSSE(f any) bool { return machine.This.WritesSSE(f) }

// Unprotected returns an error for each name that is to keep probes away, whether
// marked with NoKprobe or in package reach, and that no function has. Without a machine
// there is none.
func Unprotected() []error { return machine.This.Unprotected() }
