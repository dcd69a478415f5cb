//go:build tamago

package usermode

// Trap context.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/kernel/notifier"
)

// onFault takes the page faults of hits that use a program's memory: they are before all probes'.
func onFault(r *amd64.Regs, _ uint64) notifier.Action {
	if user.FixFault(r) {
		return notifier.Stop
	}
	return notifier.Next
}
