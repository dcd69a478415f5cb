package module

import (
	"runtime/debug"
	"syscall"

	"sonde/kernel/printk"
	"sonde/kernel/refusal"
)

// guard calls a function of a module and turns a panic into an error: the shell that runs
// insmod should survive the module.
//
// Errors: EFAULT for a panic, and those of f.
func guard(what string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refusal.New(syscall.EFAULT, "%s panicked: %v", what, r)
			printk.Lines(printk.LevelErr, string(debug.Stack()))
		}
	}()
	return f()
}
