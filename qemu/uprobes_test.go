package main

import (
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/report"
)

// TestUserProbes runs the cases of user probes, on programs.
func TestUserProbes(t *testing.T) {
	runsBeside(t)
	p := buildPrograms(t)
	r := bootScript(t, testImage, machine.Config{SMP: 2, Initrd: p.archive, Script: fewer() + "ktest uprobes/"})
	judge(t, report.Parse(string(r.Stdout)), r)
}
