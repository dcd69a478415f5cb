//go:build tamago

package attach

import (
	"sonde/kernel/cpu"
	"sonde/kernel/smp"
	"sonde/kernel/text"
	"sonde/probe/ledger"
)

func init() {
	ledger.Settle = func() {
		if !cpu.InHandler() {
			callAll(func() {})
		}
	}
}

func callAll(f func()) { smp.CallAll(f) }
func syncAll()         { text.Sync() }
