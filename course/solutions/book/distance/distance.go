//go:build tamago

// Package distance measures how far a post-handler's IP is behind its probe.
package distance

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol       = "vfs.Read"
	offset       uint64
	hits         atomic.Int64
	least, most  atomic.Int64
	vector, code atomic.Uint64 // of the last hit
	probe        *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "distance",
		Doc:    "how far is IP behind the probe when the instruction has been executed",
		Params: module.Params{"symbol": module.String(&symbol, "function"), "offset": module.Uint(&offset, "bytes into it")},
		Init:   start,
		Exit:   stop,
	})
}

func before(p *kprobes.Kprobe, regs *amd64.Regs) int {
	hits.Add(1)
	vector.Store(regs.Vector)
	code.Store(regs.CS)
	return 0
}

// after is called when the instruction has been executed. Several CPUs may be here at once.
func after(p *kprobes.Kprobe, regs *amd64.Regs, flags uint64) {
	far := int64(regs.IP) - int64(p.Addr)
	for old := least.Load(); far < old && !least.CompareAndSwap(old, far); old = least.Load() {
	}
	for old := most.Load(); far > old && !most.CompareAndSwap(old, far); old = most.Load() {
	}
}

func start() error {
	hits.Store(0)
	least.Store(1 << 40)
	most.Store(-1 << 40)
	probe = &kprobes.Kprobe{SymbolName: symbol, Offset: uintptr(offset), PreHandler: before, PostHandler: after}
	return kprobes.RegisterKprobe(probe)
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	printk.Info("distance: %d hits, vector %d, CS %d, from %d to %d bytes", hits.Load(), vector.Load(), code.Load(), least.Load(), most.Load())
}
