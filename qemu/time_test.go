package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// TestTenSecondsAreTenSeconds compares the guest's clock, and what it sleeps by, with the host's. On a busy
// host lines come late and sleeps end late: by no more than QEMU and this process have waited for a
// processor. If the host does not say how long that was, the same machine, whose clock stays as it is, sleeps
// again.
func TestTenSecondsAreTenSeconds(t *testing.T) {
	skipIfShort(t)
	const want, tries = 10 * time.Second, 12
	off := func(d, waited time.Duration) bool { return (d - want).Abs() > want/50+waited }
	for _, m := range []string{"q35", "microvm"} {
		t.Run(m, func(t *testing.T) {
			t.Parallel() // it sleeps
			c := startConsole(t, machine.Config{Machine: m, SMP: 2})
			for try := 1; ; try++ {
				c.enter("cat /proc/uptime; sleep 10; cat /proc/uptime")
				waited := delayed(c.Pid()) + delayed(os.Getpid())
				before, from := c.uptime(), time.Now()
				inside, outside := c.uptime()-before, time.Since(from)
				waited = delayed(c.Pid()) + delayed(os.Getpid()) - waited
				t.Logf("%v in the guest, %v outside, %v of them waiting for the host", inside, outside, waited)
				switch {
				case inside < want:
					t.Fatalf("sleep 10 took %v in the guest", inside)
				case !off(inside, waited) && !off(outside, waited):
					return
				case try == tries:
					t.Fatalf("sleep 10 took %v in the guest, %v outside: more than 2 %% off", inside, outside)
				}
			}
		})
	}
}

// delayed is how long the threads of a process have waited for a processor of the host, in all.
func delayed(pid int) (d time.Duration) {
	for _, had := range machine.SharesOf(pid) {
		d += had.Delayed
	}
	return d
}

// uptime returns what the next line of /proc/uptime says.
func (c *console) uptime() time.Duration {
	c.Helper()
	const line = `(?m)^(\d+\.\d+) \d+\.\d+\r?\n`
	d, err := time.ParseDuration(regexp.MustCompile(line).FindStringSubmatch(c.see(line))[1] + "s")
	if err != nil {
		c.Fatal(err)
	}
	return d
}

// TestIdleMachineLeavesTheHostAlone: at the prompt the processors halt.
func TestIdleMachineLeavesTheHostAlone(t *testing.T) {
	runsBeside(t)
	const span = 10 * time.Second
	for _, m := range []string{"q35", "microvm"} {
		t.Run(m, func(t *testing.T) {
			t.Parallel() // it sleeps
			c := startConsole(t, machine.Config{Machine: m, SMP: 4, Accel: machine.TCG})
			c.see(prompt)
			time.Sleep(time.Second) // what the runtime has to do after boot
			before := cpuTime(t, c.Pid())
			time.Sleep(span)
			used := cpuTime(t, c.Pid()) - before
			t.Logf("%v of processor time in %v", used, span)
			if used > span/20 {
				t.Errorf("QEMU used %v of a processor in %v, more than 5 %%", used, span)
			}
		})
	}
}

// cpuTime returns what a process has used, user and system.
//
// Source: Linux, proc(5), /proc/pid/stat: fields 14 and 15, in 1/100 s.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest) // from the third on
	if len(fields) < 13 {
		t.Fatalf("/proc/%d/stat: %q", pid, b)
	}
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// TestBootTime: from the start of QEMU to the prompt. The limit is what a
// stock Linux takes to its first line of user space on the same QEMU. Time in
// which QEMU could run, but the host had other things to do, does not count.
func TestBootTime(t *testing.T) {
	skipIfShort(t)
	const limit = 2 * time.Second
	for _, m := range []string{"q35", "microvm"} {
		t.Run(m, func(t *testing.T) {
			var took, own []time.Duration
			for range 3 {
				from := time.Now()
				c := startConsole(t, machine.Config{Machine: m, SMP: 2})
				c.see(prompt)
				took = append(took, time.Since(from).Round(time.Millisecond))
				own = append(own, took[len(took)-1]-delayed(c.Pid()))
				c.key("poweroff\r")
				c.wait()
			}
			t.Log(took, own)
			if best := slices.Min(own); best > limit {
				t.Errorf("%v to the prompt, %v without waiting for the host, want at most %v", took, own, limit)
			}
		})
	}
}
