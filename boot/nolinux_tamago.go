//go:build tamago && nolinux

package main

import (
	"sonde/kernel/procfs"
	"sonde/kernel/vfs"
	"sonde/shell"
)

// This is the kernel without linux/: it runs no programs. The prompt, the modules and the probes of
// the kernel are there.

func startPrograms()                {}
func mountProgramFiles(*vfs.FS)     {}
func shellPrograms() shell.Programs { return nil }
func runningPrograms() []int        { return nil }
func loadNow() (none procfs.Load)   { return none }
func statNow() procfs.Stat          { return procfs.StatNow() }
