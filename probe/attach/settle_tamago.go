//go:build tamago

package attach

import (
	"sonde/kernel/cpu"
	"sonde/kernel/smp"
	"sonde/probe/ledger"
)

func init() {
	ledger.Settle = func() {
		if !cpu.InHandler() {
			smp.CallAll(func() {})
		}
	}
}
