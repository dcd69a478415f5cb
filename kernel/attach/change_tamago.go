//go:build tamago

package attach

import "sonde/kernel/smp"

func callAll(f func()) { smp.CallAll(f) }
