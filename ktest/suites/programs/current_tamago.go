//go:build tamago

package programs

import (
	"fmt"
	"io"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/optprobe"
)

func init() {
	suites.Add("programs/current_thread", current)
	suites.Add("programs/handlers_know_the_program", handlersKnow)
}

// current: the goroutine of a thread serves its system calls, and other goroutines have no thread.
func current(t *suites.T) {
	need(t, "sh")
	table := suites.Programs
	handle := table.Syscall
	defer func() { table.Syscall = handle }()
	var calls, wrong atomic.Int32
	table.Syscall = func(th *proc.Thread) {
		calls.Add(1)
		done := make(chan *proc.Thread)
		go func() { done <- proc.Current() }()
		if proc.Current() != th || <-done != nil {
			wrong.Add(1)
		}
		handle(th)
	}
	run(t, "/bin/sh -c 'for i in 1 2 3; do echo $i | cat; done'")
	if calls.Load() == 0 || wrong.Load() != 0 || proc.Current() != nil {
		t.Errorf("of %d system calls %d were by another thread; this one's is %v", calls.Load(), wrong.Load(), proc.Current())
	}
}

// handlersKnow probes a function of the file system that two programs and the kernel call,
// by a jump and by a breakpoint.
func handlersKnow(t *suites.T) {
	need(t, "sh")
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	for _, on := range []bool{false, true} {
		t.Must(optprobe.Optimization.Store(on))
		askWhoOpens(t, on && optprobe.Able())
	}
}

func askWhoOpens(t *suites.T, jumps bool) {
	var cat, sh, kernel, other atomic.Int32
	k := &kprobes.Kprobe{SymbolName: "sonde/kernel/vfs.(*FS).find", PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		th := proc.Interrupted(r)
		if th == nil {
			kernel.Add(1)
			return 0
		}
		switch th.Process().Name() {
		case "cat":
			if cat.Add(1) == 1 {
				die.DumpStack(r)
			}
		case "sh":
			sh.Add(1)
		default:
			other.Add(1)
		}
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	kprobes.AwaitJumps()
	if jump := kprobes.Optimized(k.Addr); jump != jumps {
		t.Errorf("hit by a jump: %v, want %v", jump, jumps)
	}
	suites.Script(io.Discard, "dmesg -C")
	_, status := run(t, "/bin/cat /proc/version /proc/version; /bin/sh -c 'read x < /proc/version'")
	f, err := vfs.Open("/proc/version", 0)
	t.Must(err)
	f.Close()
	kprobes.UnregisterKprobe(k)
	got := fmt.Sprintf("cat %v, sh %v, kernel %v, others %d", cat.Load() >= 2, sh.Load() > 0, kernel.Load() > 0, other.Load())
	if want := "cat true, sh true, kernel true, others 0"; got != want || status != 0 {
		t.Errorf("status %d: %s", status, got)
	}
	logged(t, `CPU: \d+ PID: \d+ Comm: cat goroutine: \d+\n`)
}
