//go:build tamago

package attach

import (
	"sonde/kernel/smp"
	"sonde/kernel/text"
)

func callAll(f func()) { smp.CallAll(f) }
func syncAll()         { text.Sync() }
