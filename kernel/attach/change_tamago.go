//go:build tamago

package attach

import (
	"sonde/kernel/cpu"
	"sonde/kernel/probe"
	"sonde/kernel/smp"
	"sonde/kernel/text"
)

func init() {
	probe.Settle = func() {
		if !cpu.InHandler() {
			callAll(func() {})
		}
	}
}

func callAll(f func()) { smp.CallAll(f) }
func syncAll()         { text.Sync() }
