package module

import (
	"runtime/debug"
	"syscall"

	"sonde/kernel/printk"
	"sonde/kernel/refusal"
)

// guard calls a function of a module and makes an error of its panic: the
// shell that typed insmod should outlive the module.
//
// Errors: EFAULT for a panic, and what f returns.
func guard(what string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refusal.New(syscall.EFAULT, "%s panicked: %v", what, r)
			printk.Lines(printk.LevelErr, string(debug.Stack()))
		}
	}()
	return f()
}
