//go:build tamago

// Package lab2 adds up what is written to each file.
package lab2

import (
	"cmp"
	"slices"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var probe *kprobes.Kretprobe

func init() {
	module.Register(&module.Module{Name: "lab2", Doc: "what is written to each file", Init: start, Exit: stop})
}

// entry is called when vfs.Write(f *vfs.File, p []byte, w vfs.Waiter) (int, error) is entered.
func entry(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	return 0
}

// exit is called when it returns.
func exit(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	return 0
}

func start() error {
	clearTable()
	probe = &kprobes.Kretprobe{EntryHandler: entry, Handler: exit, MaxActive: 64}
	probe.KP.SymbolName = "vfs.Write"
	return kprobes.RegisterKretprobe(probe)
}

// stop prints the ten files with the most bytes, and the sum of those that there was no room for.
func stop() {
	kprobes.UnregisterKretprobe(probe)
	var list []*row
	for i := range rows {
		if table[i].state.Load() == named {
			list = append(list, &table[i])
		}
	}
	slices.SortFunc(list, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.written.Load(), a.written.Load()), cmp.Compare(a.title(), b.title()))
	})
	for _, r := range list[:min(10, len(list))] {
		r.print(r.title())
	}
	table[rows].print("other")
}

func (r *row) print(title string) {
	printk.Info("lab2: %s: %d asked, %d written, %d short", title, r.asked.Load(), r.written.Load(), r.short.Load())
}
