//go:build tamago && !nolinux

package examples

import (
	"slices"
	"strings"
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/linux/proc"
	"sonde/probe/attach"
)

// follow_example: follow one call of write from a function of a program to the device and
// back, and print when it arrived where. The program's function has user probes. The
// kernel's functions have return probes, which check that the call is the followed
// process's: Go may move it to another of its threads. The times include the cost of the
// probes.
//
// To follow another function that calls write: insmod follow_example path=/lib/libc.so
// symbol=write comm=NAME.
type followExample struct {
	path, symbol, comm, device string

	functions []string // of the kernel, from the outermost to the innermost
	links     []*attach.Link

	process atomic.Pointer[proc.Process] // the process of the followed call
	done    atomic.Bool                  // one call is enough

	steps  [32]followStep
	nsteps atomic.Int32
}

// followStep is one line. It has no pointers, because it is written in trap context.
type followStep struct {
	at    int64 // ns
	depth int   // 0 is the program, n functions[n-1]
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
	f := &followExample{path: "/bin/myprog", symbol: "syscall.write", comm: "myprog"}
	return &module.Instance{
		Params: module.Params{
			"path":   module.String(&f.path, "file of the program or library").From(attach.PathFrom).Given(),
			"symbol": module.String(&f.symbol, "its function that calls write").From(bare).Given(),
			"comm":   module.String(&f.comm, "name of the process").Given(),
			"device": module.String(&f.device, "the device's function; none: those of a script's output and of the terminal").Given(),
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

// inProgram is called in the program's thread, which may block.
func (f *followExample) inProgram(h *attach.Hit) {
	me := proc.Current().Process()
	switch {
	case me.Name() != f.comm:
	case h.Returns:
		f.returned(me, h)
	case !f.done.Load() && (f.process.CompareAndSwap(nil, me) || f.process.Load() == me):
		f.nsteps.Store(0)
		f.note(followStep{})
	}
}

// kernelCalled declines calls of other processes, so that their returns are not
// reported.
func (f *followExample) kernelCalled(h *attach.Hit) bool {
	if p, t := f.process.Load(), proc.Interrupted(h.Regs); p == nil || t == nil || t.Process() != p {
		return false
	}
	f.note(followStep{depth: f.depth(h)})
	return true
}

func (f *followExample) kernelReturned(h *attach.Hit) {
	f.note(followStep{depth: f.depth(h), back: true, value: h.Result()})
}

func (f *followExample) depth(h *attach.Hit) int {
	return slices.Index(f.functions, h.Place.Site.Symbol) + 1
}

// returned ends following, if process me was followed.
func (f *followExample) returned(me *proc.Process, h *attach.Hit) {
	if f.process.Load() != me {
		return
	}
	f.note(followStep{back: true, value: h.Result()})
	f.done.Store(true)
	f.process.Store(nil)
	printk.Info("follow: %s[%d], thread %d", me.Name(), me.PID, proc.Current().TID)
	for _, s := range f.steps[:min(int(f.nsteps.Load()), len(f.steps))] {
		f.print(s)
	}
}

func (f *followExample) print(s followStep) {
	name := f.symbol
	if s.depth > 0 {
		name = strings.TrimPrefix(f.functions[s.depth-1], "sonde/")
		s.depth = min(s.depth, followDevice)
	}
	since := s.at - f.steps[0].at
	indent := strings.Repeat("  ", s.depth)
	if s.back {
		printk.Info("%5d.%d µs  %s%s returns %d", since/1000, since/100%10, indent, name, int64(s.value))
	} else {
		printk.Info("%5d.%d µs  %s%s", since/1000, since/100%10, indent, name)
	}
}

// followDevice is how deep a device's function is, the innermost.
const followDevice = 3

func (f *followExample) init() error {
	f.functions = []string{"sonde/linux/syscall.write", "vfs.Write", "console.(*Pipe).Write", "tty.Handle.WriteAt"}
	if f.device != "" {
		f.functions = append(f.functions[:followDevice-1], f.device)
	}
	returns := make([]string, len(f.functions))
	for i, name := range f.functions {
		returns[i] = "ret:" + name
	}
	err := f.attach(f.kernelReturned, &attach.Options{Entry: f.kernelCalled}, returns...)
	if err != nil {
		return err
	}
	program := f.path + ":" + f.symbol
	if err = f.attach(f.inProgram, &attach.Options{Block: true}, "ret:"+program, program); err != nil {
		f.exit()
	}
	return err
}

func (f *followExample) attach(h attach.Handler, o *attach.Options, places ...string) error {
	l, err := attach.AttachTo(h, o, places...)
	if err == nil {
		f.links = append(f.links, l)
	}
	return err
}

func (f *followExample) exit() {
	for _, l := range slices.Backward(f.links) {
		l.Close()
	}
}
