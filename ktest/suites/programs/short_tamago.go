//go:build tamago

package programs

import (
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/abi"
	"sonde/kernel/cpu"
	"sonde/kernel/text"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/optprobe"
)

func init() {
	suites.Add("programs/short_calls_can_be_killed", shortKilled)
	suites.Add("programs/short_calls_can_be_stopped", shortStopped)
	suites.Add("programs/short_calls_let_others_run", shortShares)
	suites.Add("programs/short_calls_are_told", shortTold)
	suites.Add("programs/short_calls_take_time", shortTime)
	suites.Add("programs/short_calls_keep_registers", shortKeeps)
	suites.Add("programs/short_calls_can_be_probed", shortProbed)
}

// asks is mov $39, %eax; syscall; jmp to the beginning: getpid for ever.
var asks = []byte{0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7}

const nGetpid = 39

// rounds is how often keeps calls getpid.
const rounds = 20000

func keepsAddr() uintptr

// starts returns a function that starts a program of code, and one that removes its file.
func starts(t *suites.T, code []byte) (start func() *proc.Process, remove func()) {
	t.NeedPrograms()
	const path = "/tmp/short"
	suites.WriteProgram(t, path, code)
	return func() *proc.Process { return suites.StartProgram(t, path, nil) }, func() { vfs.Root.Remove(path) }
}

// runs waits until p has run for some time more.
func runs(t *suites.T, p *proc.Process) {
	before := used(p)
	t.Until("the program to run", func() bool { return used(p) > before+3*time.Millisecond })
}

func used(p *proc.Process) time.Duration {
	u, _ := p.Usage()
	return u.User + u.System
}

// kill ends p by a signal, which has to be noticed.
func kill(t *suites.T, p *proc.Process) {
	t.Must(p.Send(proc.SignalOf(abi.SIGKILL)))
	t.Until("the program to be killed", func() bool {
		select {
		case <-p.Done():
			return true
		default:
			return false
		}
	})
	suites.WaitProgram(t, p)
}

// shortKilled: such a program never returns from Run by itself.
func shortKilled(t *suites.T) {
	start, remove := starts(t, asks)
	defer remove()
	for range 20 {
		p := start()
		runs(t, p)
		kill(t, p)
	}
}

func shortStopped(t *suites.T) {
	start, remove := starts(t, asks)
	defer remove()
	p := start()
	for range 20 {
		runs(t, p)
		t.Must(p.Send(proc.SignalOf(abi.SIGSTOP)))
		t.Until("the program to stop", func() bool { return p.State() == "T" })
		t.Must(p.Send(proc.SignalOf(abi.SIGCONT)))
	}
	kill(t, p)
}

// shortShares has more such programs than CPUs, and a timer in the kernel: each gets its turn.
func shortShares(t *suites.T) {
	start, remove := starts(t, asks)
	defer remove()
	var all []*proc.Process
	for range cpu.Num() + 2 {
		all = append(all, start())
	}
	for range 3 {
		for _, p := range all {
			runs(t, p)
		}
		time.Sleep(time.Millisecond)
	}
	for _, p := range all {
		kill(t, p)
	}
}

// shortTold attaches an engine to the program while that runs: from then on it is told of each call.
func shortTold(t *suites.T) {
	start, remove := starts(t, asks)
	defer remove()
	p := start()
	defer kill(t, p)
	var entered, left, wrong atomic.Int64
	e := &proc.Engine{
		Enter: func(th *proc.Thread) { entered.Add(1) },
		Leave: func(th *proc.Thread) {
			left.Add(1)
			if th.Call() != nGetpid || th.Regs().AX != uint64(p.PID) {
				wrong.Add(1)
			}
		},
	}
	for range 10 {
		runs(t, p)
		before := left.Load()
		p.Attach(e)
		t.Until("the engine to be told", func() bool { return left.Load() > before+10 })
		p.Detach(e)
		runs(t, p)
		after := entered.Load()
		if runs(t, p); entered.Load() != after {
			t.Errorf("an engine that has been detached is told")
		}
	}
	if wrong.Load() != 0 {
		t.Errorf("%d calls of %d had another number or result", wrong.Load(), left.Load())
	}
}

// shortTime: what the kernel does for the program is its time in the kernel.
func shortTime(t *suites.T) {
	start, remove := starts(t, asks)
	defer remove()
	p := start()
	before, _ := p.Usage()
	fair := false // the host may stop the machine while the program runs, but not in each run
	for try := 0; try < 20 && !fair; try++ {
		runs(t, p)
		now, _ := p.Usage()
		user, system := now.User-before.User, now.System-before.System
		fair, before = user > 0 && 5*system >= user+system, now
	}
	if !fair {
		t.Errorf("%v in the program, %v in the kernel", before.User, before.System)
	}
	kill(t, p)
}

// keepsCode is the program's code.
func keepsCode(t *suites.T) []byte {
	sym, ok := kallsyms.Kernel().At(uint64(keepsAddr()))
	if !ok {
		t.Fatalf("the program has no symbol")
	}
	return text.Bytes(keepsAddr(), uintptr(sym.Size))
}

func shortKeeps(t *suites.T) {
	start, remove := starts(t, keepsCode(t))
	defer remove()
	if s := suites.WaitProgram(t, start()); s != proc.Exited(0) {
		t.Errorf("%v: a call has changed a register", s)
	}
}

// shortProbed probes the function of a short call, by a breakpoint, by a jump, and where it returns:
// the probes are hit each time, by the program, and the program's registers are kept.
func shortProbed(t *suites.T) {
	start, remove := starts(t, keepsCode(t))
	defer remove()
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	for _, on := range []bool{false, true} {
		t.Must(optprobe.Optimization.Store(on))
		var hits, returns, others atomic.Int64
		var sum float64
		own := func(r *amd64.Regs, n *atomic.Int64) int {
			if th := proc.Interrupted(r); th != nil && th.Process().Name() == "short" {
				n.Add(1)
			} else {
				others.Add(1)
			}
			sum += 1.5
			return 0
		}
		k := &kprobes.Kprobe{SymbolName: "sonde/linux/syscall.getpid", PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int { return own(r, &hits) }}
		rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: "sonde/linux/syscall.getpid"},
			Handler: func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { return own(r, &returns) }}
		t.Must(kprobes.RegisterKprobe(k))
		t.Must(kprobes.RegisterKretprobe(rp))
		kprobes.AwaitJumps()
		status := suites.WaitProgram(t, start())
		kprobes.UnregisterKretprobe(rp)
		kprobes.UnregisterKprobe(k)
		if status != proc.Exited(0) || hits.Load() != rounds+1 || returns.Load() != rounds+1 || others.Load() != 0 {
			t.Errorf("jumps %v: %v, %d hits, %d returns, %d of others", on, status, hits.Load(), returns.Load(), others.Load())
		}
	}
}
