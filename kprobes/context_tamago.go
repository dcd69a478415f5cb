//go:build tamago

package kprobes

import (
	"syscall"

	"sonde/kernel/cpu"
)

// errHandler is made beforehand: a handler may not allocate.
var errHandler = refuse(syscall.EDEADLK, "kprobes: a handler may not register, enable or disable probes")

// inHandler refuses what would wait for mu, and for all handlers to end, when it is
// called in one. It comes before anything is changed.
//
// Context: any.
// Errors: EDEADLK in trap context.
func inHandler() error {
	if cpu.InHandler() {
		return errHandler
	}
	return nil
}
