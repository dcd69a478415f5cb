//go:build tamago

package grace

import (
	"sonde/kernel/smp"
	"sonde/kernel/text"
)

// CallAll is smp.CallAll.
func CallAll(f func()) { smp.CallAll(f) }

func syncAll() { text.Sync() }
