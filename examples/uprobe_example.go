//go:build tamago && !nolinux

package examples

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/uprobes"
)

// uprobe_example: count how often an instruction of a program is executed, and report each
// time unless verbose=0: insmod uprobe_example pid=PID vaddr=ADDRESS. Or an instruction of
// a function, in all processes that run a program: insmod uprobe_example path=FILE
// symbol=NAME.
type uprobeExample struct {
	pid     int
	vaddr   uint64
	path    string
	symbol  string
	verbose bool
	hits    atomic.Int64
	usp     *uprobes.Uprobe
}

// maxPid is Linux's greatest pid_max.
const maxPid = 1 << 22

func init() {
	module.Register(&module.Module{
		Name: "uprobe_example",
		Doc:  "count how often an instruction of a program is executed",
		New:  newUprobeExample,
	})
}

func newUprobeExample(string) *module.Instance {
	e := &uprobeExample{verbose: true}
	return &module.Instance{
		Params: module.Params{
			"pid":     module.Int(&e.pid, "process to probe").Within(1, maxPid),
			"vaddr":   module.Uint(&e.vaddr, "address of the instruction"),
			"path":    module.String(&e.path, "instead of vaddr: the program's file").From(attach.PathFrom).Given(),
			"symbol":  module.String(&e.symbol, "with path: the function").From(bare).Given(),
			"verbose": module.Bool(&e.verbose, "report each hit"),
		},
		Init: e.init,
		Exit: e.exit,
	}
}

// hit may run in several threads at the same time.
func (e *uprobeExample) hit(u *uprobes.Uprobe, regs *amd64.Regs) {
	n := e.hits.Add(1)
	if e.verbose {
		printk.Info("Hit #%d on probepoint at %#x", n, regs.IP)
	}
}

func (e *uprobeExample) init() error {
	if e.pid == 0 && e.path == "" {
		return refusal.New(syscall.EINVAL, "give pid= and vaddr=, or path= and symbol=")
	}
	e.usp = &uprobes.Uprobe{Pid: e.pid, Vaddr: e.vaddr, Path: e.path, Symbol: e.symbol, Handler: e.hit}
	printk.Info("Registering uprobe on %s", e.place())
	if err := uprobes.RegisterUprobe(e.usp); err != nil {
		printk.Err("register_uprobe() failed, returned %d", returned(err))
		return err
	}
	return nil
}

func (e *uprobeExample) exit() {
	printk.Info("Unregistering uprobe on %s", e.place())
	printk.Info("Probepoint was hit %d times", e.hits.Load())
	uprobes.UnregisterUprobe(e.usp)
}

func (e *uprobeExample) place() string {
	if e.usp.Path != "" {
		return e.usp.Path + ":" + e.usp.Symbol
	}
	return fmt.Sprintf("pid %d, vaddr %#x", e.usp.Pid, e.usp.Vaddr)
}
