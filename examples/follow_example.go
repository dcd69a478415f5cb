//go:build tamago && !nolinux

package examples

import (
	"strings"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/linux/proc"
	"sonde/uprobes"
)

// follow_example: follow one call of write from a function of a program to the device and
// back, and print when it arrived where. The program's function has user probes. The
// kernel's functions have return probes, which check that the call is the followed
// process's: Go may move it to another of its threads. The times include the cost of the
// probes.
//
// To follow another function that calls write: insmod follow_example path=/lib/libc.so
// symbol=write comm=NAME. At the prompt the device is another one: device=serial.WriteRaw.
type followExample struct {
	path, symbol, comm, device string

	entry  *uprobes.Uprobe
	ret    *uprobes.Uretprobe
	kernel []*kprobes.Kretprobe // from the outermost function to the innermost

	process atomic.Pointer[proc.Process] // the process of the followed call
	done    atomic.Bool                  // one call is enough

	steps  [32]followStep
	nsteps atomic.Int32
}

// followStep is one line. It has no pointers, because it is written in trap context.
type followStep struct {
	at    int64 // ns
	depth int   // 0 is the program, n kernel[n-1]
	back  bool
	value uint64 // what the function returns
}

func init() {
	module.Register(&module.Module{
		Name: "follow_example",
		Doc:  "follow a write from a program to the device and back",
		New:  newFollowExample,
	})
}

func newFollowExample(string) *module.Instance {
	f := &followExample{path: "/bin/myprog", symbol: "syscall.write", comm: "myprog", device: "console.(*Pipe).Write"}
	return &module.Instance{
		Params: module.Params{
			"path":   module.String(&f.path, "file of the program or library").Given(),
			"symbol": module.String(&f.symbol, "its function that calls write").Given(),
			"comm":   module.String(&f.comm, "name of the process").Given(),
			"device": module.String(&f.device, "the device's function").Given(),
		},
		Init: f.init,
		Exit: f.exit,
	}
}

func (f *followExample) note(s followStep) {
	s.at = cpu.Nanotime()
	if i := int(f.nsteps.Add(1)) - 1; i < len(f.steps) {
		f.steps[i] = s
	}
}

// called is called in the program's thread.
func (f *followExample) called(*uprobes.Uprobe, *amd64.Regs) {
	if me := uprobes.Current().Process(); !f.done.Load() && (f.process.CompareAndSwap(nil, me) || f.process.Load() == me) {
		f.nsteps.Store(0)
		f.note(followStep{})
	}
}

// kernelCalled declines calls of other processes, so that their returns are not
// reported.
func (f *followExample) kernelCalled(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	if p, t := f.process.Load(), proc.Interrupted(regs); p == nil || t == nil || t.Process() != p {
		return 1
	}
	f.note(followStep{depth: f.depth(ri.RP)})
	return 0
}

func (f *followExample) kernelReturned(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	f.note(followStep{depth: f.depth(ri.RP), back: true, value: kprobes.RegsReturnValue(regs)})
	return 0
}

func (f *followExample) depth(rp *kprobes.Kretprobe) int {
	for i, other := range f.kernel {
		if other == rp {
			return i + 1
		}
	}
	return 0
}

// returned is called in the program's thread, which may block.
func (f *followExample) returned(_ *uprobes.UretprobeInstance, regs *amd64.Regs) {
	me := uprobes.Current()
	if f.process.Load() != me.Process() {
		return
	}
	f.note(followStep{back: true, value: uprobes.RegsReturnValue(regs)})
	f.done.Store(true)
	f.process.Store(nil)
	printk.Info("follow: %s[%d], thread %d", me.Process().Name(), me.Process().PID, me.TID)
	for _, s := range f.steps[:min(int(f.nsteps.Load()), len(f.steps))] {
		f.print(s)
	}
}

func (f *followExample) print(s followStep) {
	name := f.symbol
	if s.depth > 0 {
		name = strings.TrimPrefix(f.kernel[s.depth-1].KP.SymbolName, "sonde/")
	}
	since := s.at - f.steps[0].at
	indent := strings.Repeat("  ", s.depth)
	if s.back {
		printk.Info("%5d.%d µs  %s%s returns %d", since/1000, since/100%10, indent, name, int64(s.value))
	} else {
		printk.Info("%5d.%d µs  %s%s", since/1000, since/100%10, indent, name)
	}
}

func (f *followExample) init() (err error) {
	for _, symbol := range []string{"sonde/linux/syscall.write", "vfs.Write", f.device} {
		rp := &kprobes.Kretprobe{EntryHandler: f.kernelCalled, Handler: f.kernelReturned}
		rp.KP.SymbolName = symbol
		f.kernel = append(f.kernel, rp)
	}
	if err := kprobes.RegisterKretprobes(f.kernel); err != nil {
		return err
	}
	f.ret = &uprobes.Uretprobe{Handler: f.returned}
	f.ret.U.Path, f.ret.U.Symbol, f.ret.U.Comm = f.path, f.symbol, f.comm
	if err = uprobes.RegisterUretprobe(f.ret); err != nil {
		kprobes.UnregisterKretprobes(f.kernel)
		return err
	}
	f.entry = &uprobes.Uprobe{Path: f.path, Symbol: f.symbol, Comm: f.comm, Handler: f.called}
	if err = uprobes.RegisterUprobe(f.entry); err != nil {
		uprobes.UnregisterUretprobe(f.ret)
		kprobes.UnregisterKretprobes(f.kernel)
	}
	return err
}

func (f *followExample) exit() {
	uprobes.UnregisterUprobe(f.entry)
	uprobes.UnregisterUretprobe(f.ret)
	kprobes.UnregisterKretprobes(f.kernel)
}
