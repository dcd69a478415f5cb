//go:build tamago

package optimized

import (
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/every_boundary_of_every_shape_fused", func(t *suites.T) { everyShape(t, poisons()) })
	suites.Add("optimized/every_boundary_of_every_go_function_fused", func(t *suites.T) { everyFunction(t, poisons()) })
}

// poisons makes probes whose detours have code that changes all that it may.
func poisons() func(uintptr) *kprobes.Kprobe {
	poison := targets.Poisons()
	return func(addr uintptr) *kprobes.Kprobe {
		k := &kprobes.Kprobe{Addr: addr, PreHandler: pre}
		poison(k)
		return k
	}
}
