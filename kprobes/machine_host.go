//go:build !tamago

package kprobes

import "sonde/arch/amd64"

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
