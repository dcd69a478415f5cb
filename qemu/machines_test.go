package main

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"sonde/qemu/machine"
)

// TestMachines boots what the kernel promises to run on. It must find every
// processor and give the heap nearly all of the memory.
func TestMachines(t *testing.T) {
	skipIfShort(t)
	for _, c := range []struct {
		machine, memory string
		smp, mib        int
	}{
		{"q35", "128M", 1, 128},
		{"q35", "128M", 8, 128},
		{"q35", "1G", 8, 1 << 10},
		{"q35", "3G", 2, 3 << 10}, // has a hole for devices
		{"q35", "8G", 4, 8 << 10},
		{"microvm", "128M", 1, 128},
		{"microvm", "1G", 8, 1 << 10},
		{"microvm", "8G", 4, 8 << 10},
	} {
		t.Run(fmt.Sprintf("%s-%s-smp%d", c.machine, c.memory, c.smp), func(t *testing.T) {
			r := bootScript(t, normalImage, machine.Config{
				Machine: c.machine, Memory: c.memory, SMP: c.smp,
				Script: "lscpu | grep CPU(s): ; free -m; cat /proc/interrupts",
			})
			if r.Crash || r.Status != 0 {
				t.Fatal(said(r))
			}
			out := string(r.Stdout)
			if n := number(out, `CPU\(s\): +(\d+)`); n != c.smp {
				t.Errorf("%d CPUs, want %d\n%s", n, c.smp, said(r))
			}
			total, free := number(out, `Mem: +(\d+)`), number(out, `Mem: +\d+ +\d+ +(\d+)`)
			if low := c.mib * 15 / 16; total < low-12 || total > c.mib || free < total-32 {
				t.Errorf("heap of %d MiB, %d free, on a machine of %d\n%s", total, free, c.mib, said(r))
			}
		})
	}
}

// number returns the first number in text that the group of pattern matches.
func number(text, pattern string) int {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
