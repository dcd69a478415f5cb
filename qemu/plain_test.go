package main

import (
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// TestKernelPlain runs the suites about jumps and returns with assembly that only
// moves registers (debug.kprobes-plain): Go must do alone what the usual detours
// and the trampoline mirror. Of that, nothing depends on other processors: only the long run has two.
func TestKernelPlain(t *testing.T) {
	runsBeside(t)
	c := machine.Config{Machine: "q35", SMP: 1, Script: "sysctl -w debug.kprobes-plain=1; ktest optimized/ returns/"}
	if long() {
		c.SMP = 2
	}
	result := bootScript(t, testImage, c)
	judge(t, report.Parse(string(result.Stdout)), result)
}
