package main

import (
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestHandlersEndWithoutNMI: a machine that has no timer for NMIs, or is told not to
// use it, still ends a handler that loops: with another CPU's help, or, where a jump
// called it, by itself. That one used to run on with one CPU, and with two whenever
// their timers came at the same time.
func TestHandlersEndWithoutNMI(t *testing.T) {
	runsBeside(t)
	const byJump = "ktest optimized/handler_that_loops; ktest handlers/loop_on_all_cpus_at_once_by_a_jump"
	for _, c := range []struct {
		smp, cases int
		script     string
	}{
		{1, 2, byJump},
		{2, 3, "ktest handlers/never_returns; " + byJump},
	} {
		r := bootScript(t, testImage, machine.Config{SMP: c.smp, Append: "nmi_watchdog=0", Script: c.script})
		if r.Status != 0 || strings.Count(string(r.Stdout), "1 passed, 0 failed") != c.cases {
			t.Errorf("%d CPUs:\n%s", c.smp, said(r))
		}
		if !strings.Contains(string(r.Log), "with interrupts off, on all CPUs at once are not found") {
			t.Errorf("%d CPUs: it does not say what is missing\n%s", c.smp, said(r))
		}
	}
}

// TestAllCPUsLoop puts all CPUs into a handler that never returns, on each kind of
// machine. The machine used to hang, without a message.
func TestAllCPUsLoop(t *testing.T) {
	runsBeside(t)
	for name, sizes := range map[string][]int{"q35": {4}, "microvm": {1}} {
		if long() {
			sizes = []int{1, 4}
		}
		for _, smp := range sizes {
			r := bootScript(t, testImage, machine.Config{Machine: name, SMP: smp, Script: "ktest handlers/loop_on_all"})
			if r.Status != 0 || !strings.Contains(string(r.Stdout), "2 passed, 0 failed") {
				t.Errorf("%s, %d CPUs:\n%s", name, smp, said(r))
			}
		}
	}
}
