//go:build tamago && !nolinux

package examples

import (
	"fmt"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/uprobes"
)

// uprobe_example: count how often an instruction of a program is executed, and report each
// time unless verbose=0: insmod uprobe_example pid=PID vaddr=ADDRESS. Or an instruction of
// a function, in all processes that run a program: insmod uprobe_example path=FILE
// symbol=NAME.
var (
	uprobePid     int
	uprobeVaddr   uint64
	uprobePath    string
	uprobeSymbol  string
	uprobeVerbose = true
	uprobeHits    atomic.Int64
	usp           *uprobes.Uprobe
)

func init() {
	module.Register(&module.Module{
		Name: "uprobe_example",
		Doc:  "count how often an instruction of a program is executed",
		Params: module.Params{
			"pid":     module.Int(&uprobePid, "process to probe").Within(1, maxPid),
			"vaddr":   module.Uint(&uprobeVaddr, "address of the instruction"),
			"path":    module.String(&uprobePath, "instead of vaddr: the program's file").Given(),
			"symbol":  module.String(&uprobeSymbol, "with path: the function").Given(),
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
		printk.Info("Hit #%d on probepoint at %#x", n, regs.IP)
	}
}

func uprobeInit() error {
	uprobeHits.Store(0)
	usp = &uprobes.Uprobe{Pid: uprobePid, Vaddr: uprobeVaddr, Path: uprobePath, Symbol: uprobeSymbol, Handler: uprobeHandler}
	printk.Info("Registering uprobe on %s", uprobePlace())
	if err := uprobes.RegisterUprobe(usp); err != nil {
		printk.Err("register_uprobe() failed, returned %d", returned(err))
		return err
	}
	return nil
}

func uprobeExit() {
	printk.Info("Unregistering uprobe on %s", uprobePlace())
	printk.Info("Probepoint was hit %d times", uprobeHits.Load())
	uprobes.UnregisterUprobe(usp)
}

func uprobePlace() string {
	if usp.Path != "" {
		return usp.Path + ":" + usp.Symbol
	}
	return fmt.Sprintf("pid %d, vaddr %#x", usp.Pid, usp.Vaddr)
}
