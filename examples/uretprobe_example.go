//go:build tamago && !nolinux

package examples

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/uprobes"
)

// uretprobe_example: report what a function of a program returns.
// insmod uretprobe_example pid=PID func=ADDRESS.
var (
	uretPid     int
	uretFunc    uint64
	uretVerbose = true
	ncall, nret atomic.Int64
	uretEntry   *uprobes.Uprobe
	uretprobe   *uprobes.Uretprobe
)

func init() {
	module.Register(&module.Module{
		Name: "uretprobe_example",
		Doc:  "print what a function of a program returns",
		Params: module.Params{
			"pid":     module.Int(&uretPid, "process to probe").Within(1, maxPid),
			"func":    module.Uint(&uretFunc, "address of the function"),
			"verbose": module.Bool(&uretVerbose, "report each call and return"),
		},
		Init: uretprobeInit,
		Exit: uretprobeExit,
	})
}

func uretEntryHandler(u *uprobes.Uprobe, regs *amd64.Regs) {
	ncall.Add(1)
	if uretVerbose {
		printk.Info("Function at %#x called", u.Vaddr)
	}
}

func uretprobeHandler(ri *uprobes.UretprobeInstance, regs *amd64.Regs) {
	nret.Add(1)
	if uretVerbose {
		printk.Info("Function at %#x returns %#x", ri.RP.U.Vaddr, uprobes.RegsReturnValue(regs))
	}
}

func uretprobeInit() error {
	ncall.Store(0)
	nret.Store(0)
	uretEntry = &uprobes.Uprobe{Pid: uretPid, Vaddr: uretFunc, Handler: uretEntryHandler}
	printk.Info("Registering uprobe on pid %d, vaddr %#x", uretEntry.Pid, uretEntry.Vaddr)
	if err := uprobes.RegisterUprobe(uretEntry); err != nil {
		printk.Err("register_uprobe() failed, returned %d", returned(err))
		return err
	}
	uretprobe = &uprobes.Uretprobe{U: uprobes.Uprobe{Pid: uretPid, Vaddr: uretFunc}, Handler: uretprobeHandler}
	printk.Info("Registering return probe on pid %d, vaddr %#x", uretPid, uretFunc)
	if err := uprobes.RegisterUretprobe(uretprobe); err != nil {
		printk.Err("register_uretprobe() failed, returned %d", returned(err))
		uprobes.UnregisterUprobe(uretEntry)
		return err
	}
	return nil
}

func uretprobeExit() {
	printk.Info("Unregistering probes on pid %d, vaddr %#x", uretEntry.Pid, uretEntry.Vaddr)
	printk.Info("%d calls, %d returns", ncall.Load(), nret.Load())
	uprobes.UnregisterUprobe(uretEntry)
	uprobes.UnregisterUretprobe(uretprobe)
}
