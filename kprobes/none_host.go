//go:build !tamago

package kprobes

import "sonde/arch/amd64"

// On the host there are no hits.

func current(*amd64.Regs) Context { return Context{} }
func endMirrored()                { panic("kprobes: there is no kernel here") }

func film(*Kprobe, *amd64.Regs) int                     { return 0 }
func filmPost(*Kprobe, *amd64.Regs, uint64)             {}
func filmReturn(*KretprobeInstance, *amd64.Regs) int    { return 0 }
func witnessed(_ *Camera, _ *Kprobe, _ *amd64.Regs) int { return 0 }
