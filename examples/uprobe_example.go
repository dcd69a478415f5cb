//go:build tamago

package examples

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/uprobes"
)

// uprobe_example: count the number of times an instruction of a program is executed,
// and report each time unless verbose=0. insmod uprobe_example pid=PID vaddr=ADDRESS.
var (
	uprobePid     int
	uprobeVaddr   uint64
	uprobeVerbose = true
	uprobeHits    atomic.Int64
	usp           *uprobes.Uprobe
)

func init() {
	module.Register(&module.Module{
		Name: "uprobe_example",
		Doc:  "count how often an instruction of a program is executed",
		Params: module.Params{
			"pid":     module.Int(&uprobePid, "process to probe"),
			"vaddr":   module.Uint(&uprobeVaddr, "address of the instruction"),
			"verbose": module.Bool(&uprobeVerbose, "report each hit"),
		},
		Init: uprobeInit,
		Exit: uprobeExit,
	})
}

// uprobeHandler may run in several threads at the same time.
func uprobeHandler(u *uprobes.Uprobe, regs *amd64.Regs) {
	n := uprobeHits.Add(1)
	if uprobeVerbose {
		printk.Info("Hit #%d on probepoint at %#x", n, u.Vaddr)
	}
}

func uprobeInit() error {
	uprobeHits.Store(0)
	usp = &uprobes.Uprobe{Pid: uprobePid, Vaddr: uprobeVaddr, Handler: uprobeHandler}
	printk.Info("Registering uprobe on pid %d, vaddr %#x", usp.Pid, usp.Vaddr)
	if err := uprobes.RegisterUprobe(usp); err != nil {
		printk.Err("register_uprobe() failed, returned %d", returned(err))
		return err
	}
	return nil
}

func uprobeExit() {
	printk.Info("Unregistering uprobe on pid %d, vaddr %#x", usp.Pid, usp.Vaddr)
	printk.Info("Probepoint was hit %d times", uprobeHits.Load())
	uprobes.UnregisterUprobe(usp)
}
