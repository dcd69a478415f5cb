//go:build tamago && !nolinux

package tracepoints

import (
	"sonde/kallsyms"
	"sonde/ktest/suites"
	"sonde/linux/perf"
)

func init() { suites.Add("tracepoints/events_of_perf_have_functions", eventsHaveFunctions) }

// eventsHaveFunctions: the linker has left the functions whose hits are perf's software events.
func eventsHaveFunctions(t *suites.T) {
	for _, name := range []string{perf.Faults, perf.Switches} {
		if _, err := kallsyms.Resolve(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
