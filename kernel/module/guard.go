package module

import (
	"fmt"
	"runtime/debug"
	"syscall"

	"sonde/kernel/printk"
)

// guard calls a function of a module and makes an error of its panic: the
// shell that typed insmod should outlive the module.
//
// Errors: EFAULT for a panic, and what f returns.
func guard(what string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked: %v: %w", what, r, syscall.EFAULT)
			printk.Lines(printk.LevelErr, string(debug.Stack()))
		}
	}()
	return f()
}
