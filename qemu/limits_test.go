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
	runsBeside(t)
	r := bootScript(t, testImage, machine.Config{SMP: 2, Memory: "128M", Script: "ktest until_memory_is_short"})
	rep := report.Parse(string(r.Stdout))
	judge(t, rep, r)
	if !strings.HasPrefix(rep.Summary, "1 passed") {
		t.Errorf("%q: the case should have run\n%s", rep.Summary, said(r))
	}
}

// TestTooLittleMemoryIsSaid: with 88 MiB, firmware's data used to overlap the image, which ran
// nevertheless; with less than 80 MiB, memory ends within the image, and the machine stood still without a word.
func TestTooLittleMemoryIsSaid(t *testing.T) {
	runsBeside(t)
	for _, size := range []string{"74M", "80M", "88M", "93M"} {
		r := bootScript(t, normalImage, machine.Config{SMP: 1, Extra: []string{"-m", size}, Script: "echo alive"})
		if !r.Crash || !strings.Contains(string(r.Log), "sonde: boot failed: too little memory: 96 MiB are needed") {
			t.Errorf("%s\n%s", size, said(r))
		}
	}
}
