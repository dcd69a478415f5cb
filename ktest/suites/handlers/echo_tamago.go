//go:build tamago

package handlers

import (
	"strings"

	"sonde/arch/amd64"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() { suites.Add("handlers/log_about_what_logging_uses", echoes) }

// echoes makes a handler log every call of memmove, which printing one line calls several times.
// That used to continue for ever.
func echoes(t *suites.T) {
	k := &kprobes.Kprobe{SymbolName: "runtime.memmove",
		PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { printk.Info("echo"); return 0 }}
	since := suites.Mark()
	untilDropped(t, k)
	told := 0
	for rec := range printk.Records() {
		if rec.Seq > since && strings.HasPrefix(string(rec.Text()), "echo") {
			told++
		}
	}
	if told == 0 {
		t.Errorf("no echo in the log")
	}
	if l := k.Ledger(); l.Handled == 0 || l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
}

// untilDropped logs with k registered until echoes are dropped.
func untilDropped(t *suites.T, k *kprobes.Kprobe) {
	before := printk.ReadStats()
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	// The CPU that has the console shows the line: perhaps another one, later.
	t.Until("echoes to be dropped", func() bool {
		printk.Info("a line to be shown")
		return printk.ReadStats().Dropped != before.Dropped
	})
}
