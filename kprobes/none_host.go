//go:build !tamago

package kprobes

import "sonde/arch/amd64"

// On the host there are no hits.

func current(*amd64.Regs) Context { return Context{} }
func endMirrored()                { panic("kprobes: there is no kernel here") }
