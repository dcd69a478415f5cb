//go:build linux

package main

import "time"

var storms = Part{
	Name: "storms",
	Says: "probes that are registered, unregistered and switched on all CPUs, with timer interrupts as fast as they come, growing stacks, " +
		"constant garbage collection, NMIs, and all of it at once; and a hundred million hits of all kinds: each hit is in its ledger",
	Units: func(m *Machines) ([]Unit, error) {
		all := m.Cases(2, 40*time.Second, "optimized/storm_switching_for", "optimized/storm_timers_for", "optimized/storm_stacks_for", "optimized/storm_collector_for", "optimized/storm_nmis_for",
			"optimized/storm_all_for")
		return append(all, m.Cases(2, time.Minute, "optimized/hundred_million_hits", "optimized/every_function_while")...), nil
	},
}

var hostile = Part{
	Name: "hostile",
	Says: "a million random inputs, from a seed, to every registration call, control file, sysctl and module parameter: each is refused with a reason or handled correctly, and leaves nothing behind",
	Units: func(m *Machines) ([]Unit, error) {
		return m.Cases(2, 8*time.Minute, "hostile/million_inputs"), nil
	},
}
