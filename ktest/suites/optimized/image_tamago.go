//go:build tamago

package optimized

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/printk"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
)

func init() {
	suites.Add("optimized/every_function_of_the_image", everyFunctionOfImage)
}

// everyEntry returns a probe for each function that may be probed, or for each nth.
func everyEntry(t *suites.T, nth int) (all []*kprobes.Kprobe, refused int) {
	i := 0
	for s := range kallsyms.Kernel().Text {
		if i++; i%nth == 0 {
			all = append(all, at(uintptr(s.Addr), pre))
		}
	}
	n := len(all)
	all = accepted(t, all)
	return all, n - len(all)
}

// jumped returns how many of ks are hit by a jump.
func jumped(ks []*kprobes.Kprobe) (n int) {
	for _, k := range ks {
		if kprobes.Optimized(k.Addr) {
			n++
		}
	}
	return n
}

// everyFunctionOfImage puts a jump into every function that can have one, all at once. Unless cases
// may take minutes, it takes every sixth function: make prove takes every instruction of them.
func everyFunctionOfImage(t *suites.T) {
	t.OneProcessor()
	nth := 6
	if suites.Long() {
		nth = 1
	}
	all, refused := everyEntry(t, nth)
	before, start := optprobe.Counts(), time.Now()
	register(t, all...)
	registered := time.Since(start)
	optimize(t)
	took := time.Since(start) - registered
	n := jumped(all)
	c := optprobe.Counts()
	t.Logf("%d functions probed (%d may not be), %d optimized: registered in %v, optimized in %v",
		len(all), refused, n, registered, took)
	t.Logf("%d stops of the machine, %v in all, the longest %v; %d found a CPU in a region; %d detours",
		c.Stops-before.Stops, c.Stopped-before.Stopped, c.Longest, c.Retries-before.Retries, c.Detours)
	if n < len(all)*95/100 || n < 1000 {
		t.Errorf("too few")
	}
	workload(t)
	start = time.Now()
	kprobes.UnregisterKprobes(all)
	t.Logf("removed in %v", time.Since(start))
	var hits, missed, hit uint64
	for _, k := range all {
		l := k.Ledger()
		hits += l.Handled
		missed += l.Missed()
		if l.Handled > 0 {
			hit++
		}
		if l.Unexplained() != 0 || l.Abandoned != 0 {
			t.Errorf("account %+v", l)
		}
	}
	t.Logf("%d hits of %d functions, %d missed", hits, hit, missed)
	clean(t)
}

// workload uses the shell, files, the log, the heap, and all CPUs.
func workload(t *suites.T) {
	var out strings.Builder
	for _, script := range []string{
		"ls /proc; cat /proc/version; cat /proc/cpuinfo | wc",
		"mkdir /tmp/o; echo hello > /tmp/o/f; cat /tmp/o/f | grep hell; rm /tmp/o/f",
		"sysctl -a | wc", "ps; uptime; help", "cat /sys/kernel/debug/kprobes/list | wc",
		"cat /sys/kernel/debug/kprobes/stats | tail -n 3",
	} {
		out.Reset()
		suites.Script(&out, script)
		if out.Len() == 0 {
			t.Errorf("%q printed nothing", script)
		}
	}
	t.Together(func(i int) {
		for j := range 40 {
			m := map[string]int{}
			for k := range 30 {
				m[fmt.Sprint(i, j, k)] = k
			}
			if len(m) != 30 {
				t.Errorf("a map has %d entries", len(m))
			}
			suites.Equal(t, "Grow", targets.Grow(60), 60*61/2)
			if j%20 == 0 {
				runtime.GC()
			}
		}
	})
	for _, f := range targets.Funcs() {
		suites.Equal(t, f.Name, f.Call(), f.Want)
	}
	for i := range 3 {
		printk.Info("optimized: message %d", i)
	}
	c := make(chan int)
	t.Go(func() {
		for i := range 200 {
			c <- i
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		close(c)
	})
	sum := 0
	for i := range c {
		sum += i
	}
	suites.Equal(t, "sum", uint64(sum), 199*200/2)
	f, err := vfs.ReadFile("/proc/version")
	if err != nil || len(f) == 0 {
		t.Errorf("/proc/version: %v", err)
	}
}
