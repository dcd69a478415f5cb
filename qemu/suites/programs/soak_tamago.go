//go:build tamago

package programs

import (
	"math/rand/v2"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/proc"
	"sonde/kprobes"
	"sonde/qemu/suites"
	"sonde/sysctl"
)

func init() {
	suites.Add("programs/soak", func(t *suites.T) { soak(t, 3*time.Second) })
	suites.Add("programs/soak_of_ten_minutes", func(t *suites.T) {
		if k, err := sysctl.Lookup("debug.ktest-long"); err != nil || k.String() != "1" {
			t.Skipf("takes minutes: sysctl -w debug.ktest-long=1")
		}
		soak(t, 10*time.Minute)
	})
}

// work prints the same each time: shells, pipes, forks, threads, Go with collections.
var work = []string{
	`busybox sh -c 'busybox seq 1 2000 | busybox sort -rn | busybox md5sum; for i in 1 2 3; do busybox echo $i; done | busybox tac'`,
	"threads",
	"gothreads",
	"sh -c 'f() { echo $1; }; for i in 1 2 3; do f $i; done | cat'",
}

// served are functions of the kernel's that programs make run.
var served = []string{
	"sonde/kernel/syscall.Handle", "sonde/kernel/syscall.read", "sonde/kernel/syscall.write", "sonde/kernel/syscall.execve",
	"sonde/kernel/proc.(*Thread).Clone", "sonde/kernel/proc.(*Thread).steps", "sonde/kernel/mm/space.(*Space).Fault",
}

// soak runs work and compares what it prints with what it printed before, while loops in
// ring 3 are killed and kernel functions that serve programs are probed, all at random.
func soak(t *suites.T, d time.Duration) {
	need(t, "gothreads")
	want := make([]string, len(work))
	for i, line := range work {
		want[i], _ = run(t, line)
	}
	end := time.Now().Add(d)
	rounds := make([]int, len(work))
	for i, line := range work {
		t.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				if got, _ := run(t, line); got != want[i] {
					t.Errorf("%s\ngot  %q\nwant %q", line, got, want[i])
				}
				rounds[i]++
			}
		})
	}
	killed, hits := 0, uint64(0)
	t.Go(func() { killed = killLoops(t, end) })
	t.Go(func() { hits = probeServed(t, end) })
	t.Wait()
	t.Logf("%v runs, %d loops killed, %d hits of probes", rounds, killed, hits)
	if hits == 0 || killed == 0 {
		t.Errorf("no probe was hit, or no loop was killed")
	}
	t.Until("all processes to be gone", func() bool { n, _, _ := suites.Programs.Counts(); return n == 0 })
}

// killLoops starts loops in ring 3 and kills each at a moment of its life.
func killLoops(t *suites.T, end time.Time) (killed int) {
	for time.Now().Before(end) && !t.Failed() {
		done := make(chan struct{})
		t.Go(func() {
			defer close(done)
			run(t, "burn -n 2 -t 1h")
		})
		time.Sleep(rand.N(100 * time.Millisecond))
		for ended := false; !ended; {
			for _, p := range suites.Programs.Processes() {
				if p.Name() == "burn" {
					p.Send(proc.SignalOf(9))
				}
			}
			select {
			case <-done:
				ended = true
			case <-time.After(10 * time.Millisecond):
			}
		}
		killed++
	}
	return killed
}

// probeServed registers probes and unregisters them, and returns how often they were hit.
func probeServed(t *suites.T, end time.Time) (hits uint64) {
	for time.Now().Before(end) && !t.Failed() {
		k := &kprobes.Kprobe{SymbolName: served[rand.N(len(served))], PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
		if rand.N(2) == 0 {
			k.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) {} // so it is no jump
		}
		if err := kprobes.RegisterKprobe(k); err != nil {
			t.Errorf("%s: %v", k.SymbolName, err)
			return hits
		}
		time.Sleep(rand.N(50 * time.Millisecond))
		kprobes.UnregisterKprobe(k)
		hits += k.Hits()
		if l := k.Ledger(); l.Unexplained() != 0 {
			t.Errorf("%s: %+v", k.SymbolName, l)
		}
	}
	return hits
}
