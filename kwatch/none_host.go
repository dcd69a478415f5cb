//go:build !tamago

package kwatch

import (
	"syscall"

	"sonde/arch/amd64/debugreg"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
)

// this is a machine without debug registers; tests replace it with a fake.
var this = machine{
	cpus:      func() int { return 1 },
	set:       func(*debugreg.Set) {},
	each:      func() {},
	unwatched: func() {},
	recheck:   func(uintptr) grace.Change { return grace.Change{} },
	read:      func(uintptr, int) uint64 { return 0 },
	blind:     func() uint64 { return 0 },
	careful:   func(any) bool { return true },
	refuse: func(uintptr, int, Type, bool) error {
		return refusal.New(syscall.ENODEV, "kwatch: watchpoints work only in the kernel, not in a program built for the host")
	},
}
