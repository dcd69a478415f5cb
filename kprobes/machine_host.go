//go:build !tamago

package kprobes

import (
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/probe"
	"sonde/kernel/text"
)

// On the host there is no kernel to be probed, unless a test has made a machine:
// registering is refused.

func init() {
	mach.code = func(addr, n uintptr) []byte { return nil }
	mach.watch = func() {}
	mach.inHandler = func() bool { return false }
	mach.forbid = func(string) {}
	mach.blacklisted = func(kallsyms.Symbol) string { return "there is no kernel here" }
	mach.noReturn = func(kallsyms.Symbol) string { return "" }
	mach.writesSSE = func(any) bool { return false }
	mach.swap = func([]text.Patch, func(uintptr) bool) (time.Duration, error) {
		return 0, probe.Refuse(syscall.ENOSYS, "there is no kernel here")
	}
	mach.slots, mach.detours = text.NewPool(0, 0, slotSize), text.NewPool(0, 0, DetourSize)
	mach.cpus = 1
}

// Current tells whose hit a handler is called for. r is what the handler got. It
// costs two loads, and allocates nothing.
//
// Context: trap: a handler of a kprobe, or of a return probe.
func Current(r *amd64.Regs) Context { return Context{} }

// JprobeReturn ends a jprobe handler. It does not return.
//
// Context: a jprobe handler.
// Source: spec/1 §1.2.
func JprobeReturn() { panic("kprobes: there is no kernel here") }
