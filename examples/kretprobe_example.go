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
var (
	probedFunc  = "sonde/kernel/vfs.Read"
	maxActive   = 20 // at most 20 calls are probed at a time
	myKretprobe *kprobes.Kretprobe
)

func init() {
	module.Register(&module.Module{
		Name: "kretprobe_example",
		Doc:  "print what a function returns and how long it took",
		Params: module.Params{
			"func":      module.String(&probedFunc, "function to probe").Given(),
			"maxactive": module.Int(&maxActive, "how many calls can be probed at the same time").Within(1, math.MaxInt64),
		},
		Init: kretprobeInit,
		Exit: kretprobeExit,
	})
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
		probedFunc, int64(kprobes.RegsReturnValue(regs)), cpu.Nanotime()-*entryTime(ri))
	return 0
}

func kretprobeInit() error {
	myKretprobe = &kprobes.Kretprobe{
		Handler:      retHandler,
		EntryHandler: entryHandler,
		DataSize:     8,
		MaxActive:    maxActive,
	}
	myKretprobe.KP.SymbolName = probedFunc
	if err := kprobes.RegisterKretprobe(myKretprobe); err != nil {
		printk.Info("register_kretprobe failed, returned %d", returned(err))
		return err
	}
	printk.Info("Planted return probe at 0x%x", myKretprobe.KP.Addr)
	return nil
}

func kretprobeExit() {
	kprobes.UnregisterKretprobe(myKretprobe)
	printk.Info("kretprobe unregistered")
	// NMissed > 0 suggests that maxactive was set too low.
	printk.Info("Missed probing %d instances of %s", myKretprobe.NMissed(), probedFunc)
}
