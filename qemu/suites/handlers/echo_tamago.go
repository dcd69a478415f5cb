//go:build tamago

package handlers

import (
	"strings"

	"sonde/arch/amd64"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/qemu/suites"
)

func init() { suites.Add("handlers/log_about_what_logging_uses", echoes) }

// echoes has a handler log every call of memmove, which the way to the console
// calls several times for each line. It used to go on for ever.
func echoes(t *suites.T) {
	before := printk.ReadStats()
	k := &kprobes.Kprobe{SymbolName: "runtime.memmove",
		PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { printk.Info("echo"); return 0 }}
	t.Must(kprobes.RegisterKprobe(k))
	since := mark()
	printk.Info("a line to be shown")
	kprobes.UnregisterKprobe(k)
	after := printk.ReadStats()
	told := 0
	for rec := range printk.Records() {
		if rec.Seq > since && strings.HasPrefix(string(rec.Text()), "echo") {
			told++
		}
	}
	if told == 0 || after.Dropped == before.Dropped {
		t.Errorf("%d echoes in the log, %d dropped", told, after.Dropped-before.Dropped)
	}
	if l := k.Ledger(); l.Handled == 0 || l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
}
