package main

import (
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// TestKernelPlain runs the suites about jumps and returns with assembly that only
// moves registers (debug.kprobes-plain): Go must do alone what the usual detours
// and the trampoline mirror. Of that, nothing depends on other processors: only the long run has two, and
// tries every place.
func TestKernelPlain(t *testing.T) {
	runsBeside(t)
	const plain = "sysctl -w debug.kprobes-plain=1; "
	c := machine.Config{Machine: "q35", SMP: 1, Script: plain + brief + "ktest optimized/ returns/"}
	if long() {
		c.SMP, c.Script = 2, plain+"ktest optimized/ returns/"
	}
	result := bootScript(t, testImage, c)
	judge(t, report.Parse(string(result.Stdout)), result)
}
