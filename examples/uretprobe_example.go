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
type uretprobeExample struct {
	pid            int
	fn             uint64
	verbose        bool
	calls, returns atomic.Int64
	entry          *uprobes.Uprobe
	probe          *uprobes.Uretprobe
}

func init() {
	module.Register(&module.Module{
		Name: "uretprobe_example",
		Doc:  "print what a function of a program returns",
		New:  newUretprobeExample,
	})
}

func newUretprobeExample(string) *module.Instance {
	e := &uretprobeExample{verbose: true}
	return &module.Instance{
		Params: module.Params{
			"pid":     module.Int(&e.pid, "process to probe").Within(1, maxPid),
			"func":    module.Uint(&e.fn, "address of the function"),
			"verbose": module.Bool(&e.verbose, "report each call and return"),
		},
		Init: e.init,
		Exit: e.exit,
	}
}

func (e *uretprobeExample) called(u *uprobes.Uprobe, regs *amd64.Regs) {
	e.calls.Add(1)
	if e.verbose {
		printk.Info("Function at %#x called", u.Vaddr)
	}
}

func (e *uretprobeExample) logReturn(ri *uprobes.UretprobeInstance, regs *amd64.Regs) {
	e.returns.Add(1)
	if e.verbose {
		printk.Info("Function at %#x returns %#x", ri.RP.U.Vaddr, uprobes.RegsReturnValue(regs))
	}
}

func (e *uretprobeExample) init() error {
	e.entry = &uprobes.Uprobe{Pid: e.pid, Vaddr: e.fn, Handler: e.called}
	printk.Info("Registering uprobe on pid %d, vaddr %#x", e.entry.Pid, e.entry.Vaddr)
	if err := uprobes.RegisterUprobe(e.entry); err != nil {
		printk.Err("register_uprobe() failed, returned %d", returned(err))
		return err
	}
	e.probe = &uprobes.Uretprobe{U: uprobes.Uprobe{Pid: e.pid, Vaddr: e.fn}, Handler: e.logReturn}
	printk.Info("Registering return probe on pid %d, vaddr %#x", e.pid, e.fn)
	if err := uprobes.RegisterUretprobe(e.probe); err != nil {
		printk.Err("register_uretprobe() failed, returned %d", returned(err))
		uprobes.UnregisterUprobe(e.entry)
		return err
	}
	return nil
}

func (e *uretprobeExample) exit() {
	printk.Info("Unregistering probes on pid %d, vaddr %#x", e.entry.Pid, e.entry.Vaddr)
	printk.Info("%d calls, %d returns", e.calls.Load(), e.returns.Load())
	uprobes.UnregisterUprobe(e.entry)
	uprobes.UnregisterUretprobe(e.probe)
}
