//go:build tamago

package examples

import (
	"math"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

// kretprobe_example: report what a function returns, and how long it took.
type kretprobeExample struct {
	fn        string
	maxActive int
	probe     *kprobes.Kretprobe
}

func init() {
	module.Register(&module.Module{
		Name: "kretprobe_example",
		Doc:  "print what a function returns and how long it took",
		New:  newKretprobeExample,
	})
}

func newKretprobeExample(string) *module.Instance {
	e := &kretprobeExample{fn: "sonde/kernel/vfs.Read", maxActive: 20}
	return &module.Instance{
		Params: module.Params{
			"func":      module.String(&e.fn, "function to probe").From(bare).Given(),
			"maxactive": module.Int(&e.maxActive, "how many calls can be probed at the same time").Within(1, math.MaxInt64),
		},
		Init: e.init,
		Exit: e.exit,
	}
}

// entryTime is the private data of a call: when it was entered.
func entryTime(ri *kprobes.KretprobeInstance) *int64 {
	return (*int64)(unsafe.Pointer(&ri.Data[0])) // Safe because: DataSize is 8
}

func entryHandler(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	*entryTime(ri) = cpu.Nanotime()
	return 0
}

// retHandler logs the return value and the duration.
func retHandler(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	printk.Info("%s returns %d and took %d ns to execute",
		ri.RP.KP.SymbolName, int64(kprobes.RegsReturnValue(regs)), cpu.Nanotime()-*entryTime(ri))
	return 0
}

func (e *kretprobeExample) init() error {
	e.probe = &kprobes.Kretprobe{
		Handler:      retHandler,
		EntryHandler: entryHandler,
		DataSize:     8,
		MaxActive:    e.maxActive,
	}
	e.probe.KP.SymbolName = e.fn
	if err := kprobes.RegisterKretprobe(e.probe); err != nil {
		printk.Info("register_kretprobe failed, returned %d", returned(err))
		return err
	}
	printk.Info("Planted return probe at 0x%x", e.probe.KP.Addr)
	return nil
}

func (e *kretprobeExample) exit() {
	kprobes.UnregisterKretprobe(e.probe)
	printk.Info("kretprobe unregistered")
	// NMissed > 0 suggests that maxactive was set too low.
	printk.Info("Missed probing %d instances of %s", e.probe.NMissed(), e.fn)
}
