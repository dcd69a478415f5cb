package main

import (
	"strings"
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// TestProbesOnEveryBoundaryOfASmallMachine: with 128 MiB they used to end in "out of
// memory", and the kernel with them.
func TestProbesOnEveryBoundaryOfASmallMachine(t *testing.T) {
	runsScripts(t)
	r := bootScript(t, testImage, machine.Config{SMP: 2, Memory: "128M", Script: "ktest until_memory_is_short"})
	rep := report.Parse(string(r.Stdout))
	judge(t, rep, r)
	if !strings.HasPrefix(rep.Summary, "1 passed") {
		t.Errorf("%q: the case should have run\n%s", rep.Summary, said(r))
	}
}
