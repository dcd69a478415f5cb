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
var (
	followPath   = "/bin/myprog"
	followSymbol = "syscall.write"
	followComm   = "myprog"
	followDevice = "console.(*Pipe).Write"

	followEntry  *uprobes.Uprobe
	followReturn *uprobes.Uretprobe
	followKernel []*kprobes.Kretprobe // from the outermost function to the innermost

	followed   atomic.Pointer[proc.Process] // the process of the followed call
	followDone atomic.Bool                  // one call is enough

	follows  [32]followStep
	nfollows atomic.Int32
)

// followStep is one line. It has no pointers, because it is written in trap context.
type followStep struct {
	at    int64 // ns
	depth int   // 0 is the program, n followKernel[n-1]
	back  bool
	value uint64 // what the function returns
}

func init() {
	module.Register(&module.Module{
		Name: "follow_example",
		Doc:  "follow a write from a program to the device and back",
		Params: module.Params{
			"path":   module.String(&followPath, "file of the program or library").Given(),
			"symbol": module.String(&followSymbol, "its function that calls write").Given(),
			"comm":   module.String(&followComm, "name of the process").Given(),
			"device": module.String(&followDevice, "the device's function").Given(),
		},
		Init: followInit,
		Exit: followExit,
	})
}

func followNote(s followStep) {
	s.at = cpu.Nanotime()
	if i := int(nfollows.Add(1)) - 1; i < len(follows) {
		follows[i] = s
	}
}

// followCalled is called in the program's thread.
func followCalled(*uprobes.Uprobe, *amd64.Regs) {
	if me := uprobes.Current().Process(); !followDone.Load() && (followed.CompareAndSwap(nil, me) || followed.Load() == me) {
		nfollows.Store(0)
		followNote(followStep{})
	}
}

// followKernelCalled declines calls of other processes, so that their returns are not
// reported.
func followKernelCalled(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	if p, t := followed.Load(), proc.Interrupted(regs); p == nil || t == nil || t.Process() != p {
		return 1
	}
	followNote(followStep{depth: followDepth(ri.RP)})
	return 0
}

func followKernelReturned(ri *kprobes.KretprobeInstance, regs *amd64.Regs) int {
	followNote(followStep{depth: followDepth(ri.RP), back: true, value: kprobes.RegsReturnValue(regs)})
	return 0
}

func followDepth(rp *kprobes.Kretprobe) int {
	for i, other := range followKernel {
		if other == rp {
			return i + 1
		}
	}
	return 0
}

// followReturned is called in the program's thread, which may block.
func followReturned(_ *uprobes.UretprobeInstance, regs *amd64.Regs) {
	me := uprobes.Current()
	if followed.Load() != me.Process() {
		return
	}
	followNote(followStep{back: true, value: uprobes.RegsReturnValue(regs)})
	followDone.Store(true)
	followed.Store(nil)
	printk.Info("follow: %s[%d], thread %d", me.Process().Name(), me.Process().PID, me.TID)
	for _, s := range follows[:min(int(nfollows.Load()), len(follows))] {
		followPrint(s)
	}
}

func followPrint(s followStep) {
	name := followSymbol
	if s.depth > 0 {
		name = strings.TrimPrefix(followKernel[s.depth-1].KP.SymbolName, "sonde/")
	}
	since := s.at - follows[0].at
	indent := strings.Repeat("  ", s.depth)
	if s.back {
		printk.Info("%5d.%d µs  %s%s returns %d", since/1000, since/100%10, indent, name, int64(s.value))
	} else {
		printk.Info("%5d.%d µs  %s%s", since/1000, since/100%10, indent, name)
	}
}

func followInit() (err error) {
	followDone.Store(false)
	followKernel = nil
	for _, symbol := range []string{"sonde/linux/syscall.write", "vfs.Write", followDevice} {
		rp := &kprobes.Kretprobe{EntryHandler: followKernelCalled, Handler: followKernelReturned}
		rp.KP.SymbolName = symbol
		followKernel = append(followKernel, rp)
	}
	if err := kprobes.RegisterKretprobes(followKernel); err != nil {
		return err
	}
	followReturn = &uprobes.Uretprobe{Handler: followReturned}
	followReturn.U.Path, followReturn.U.Symbol, followReturn.U.Comm = followPath, followSymbol, followComm
	if err = uprobes.RegisterUretprobe(followReturn); err != nil {
		kprobes.UnregisterKretprobes(followKernel)
		return err
	}
	followEntry = &uprobes.Uprobe{Path: followPath, Symbol: followSymbol, Comm: followComm, Handler: followCalled}
	if err = uprobes.RegisterUprobe(followEntry); err != nil {
		uprobes.UnregisterUretprobe(followReturn)
		kprobes.UnregisterKretprobes(followKernel)
	}
	return err
}

func followExit() {
	uprobes.UnregisterUprobe(followEntry)
	uprobes.UnregisterUretprobe(followReturn)
	kprobes.UnregisterKretprobes(followKernel)
}
