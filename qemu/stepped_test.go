package main

import (
	"testing"

	"sonde/qemu/machine"
)

// TestInterruptsBetweenInstructions runs what counts and changes lists while interrupts come. Emulated
// processors take them between blocks of translated code only, so a count that three instructions load,
// increase and store would pass all other runs of these cases. Here each instruction is a block.
func TestInterruptsBetweenInstructions(t *testing.T) {
	runsBeside(t)
	cases, sizes := "ring/writers_interrupt attach/ticks_inside_hits optimized/storm_all_at_once", []int{2}
	if long() {
		cases, sizes = "ring/ attach/ handlers/ optimized/storm bpf/on_all bpf/fused_storm bpf/hits bpf/elements bpf/records bpf/metered", []int{1, 2}
	}
	for _, smp := range sizes {
		r := bootScript(t, testImage, machine.Config{SMP: smp, Accel: machine.Stepped, Memory: "512M",
			Script: "sysctl -w debug.ktest-short=1 debug.ktest-brief=1; ktest " + cases})
		if r.Status != 0 || !passes.Match(r.Stdout) {
			t.Errorf("%d CPUs:\n%s", smp, said(r))
		}
	}
}
