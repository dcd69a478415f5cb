package main

import (
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestProbesOfTheCommandLine: probes of the command line are hit before there is a prompt; an
// impossible one is logged, and the others work.
func TestProbesOfTheCommandLine(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Script: "dmesg -n 8; cat /sys/kernel/debug/kprobes/list",
		Append: "kprobe=sonde/kernel/irq.request kprobe=no.such.symbol kwatch=w@sonde/kernel/printk.consoleLevel kwatch=zz@nothing kprobe=sonde/kernel/irq.request+1 " +
			"kprobe=inline:sync.(*Mutex).Lock kprobe=kernel/irq/doc.go:1 kprobe=ret:vfs.Read"})
	log := string(r.Log)
	for _, says := range []string{
		"kprobe=sonde/kernel/irq.request: ax=", " sonde/kernel/console.Init+", "kprobe=no.such.symbol: ", "kwatch=zz@nothing: ",
		"kwatch=w@sonde/kernel/printk.consoleLevel: 0 -> 8", "kprobe=sonde/kernel/irq.request+1: ",
		" copies, and the function", "kprobe=inline:sync.(*Mutex).Lock: ax=", `kprobe=kernel/irq/doc.go:1: place "kernel/irq/doc.go:1": no source file of the kernel is called kernel/irq/doc.go`,
		"kprobe=ret:vfs.Read: ax=",
	} {
		if !strings.Contains(log, says) {
			t.Errorf("it does not say %q", says)
		}
	}
	if !strings.Contains(string(r.Stdout), "sonde/kernel/irq.request+0x0") || t.Failed() {
		t.Error(said(r))
	}
}
