//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// TestPauseIsNobodysFault pauses the whole machine for longer than a handler may
// run, while probes are hit all the time. The last handler before the pause used
// to be blamed for it, and its probe disabled for good.
func TestPauseIsNobodysFault(t *testing.T) {
	runsBeside(t)
	const limit = 2 * time.Second // debug.kprobes-handler-limit-ms
	sizes := []int{2}
	if long() {
		sizes = []int{1, 2}
	}
	for _, smp := range sizes {
		con := startConsole(t, machine.Config{SMP: smp})
		con.enter("bench e b k r j")
		con.see(`(?m)^e\t`) // the other rows are next
		for range 2 {
			con.signal(syscall.SIGSTOP)
			time.Sleep(limit + limit/2) // not a wait for something: the pause itself
			con.signal(syscall.SIGCONT)
			time.Sleep(limit / 10)
		}
		con.enter("poweroff")
		r := con.wait()
		if strings.Contains(string(r.Log), "the probe is disabled") {
			t.Errorf("%d CPUs: a probe was disabled\n%s", smp, said(r))
		}
	}
}

// TestPauseMakesNoCPULate pauses the whole machine, again and again, for longer than a
// stop waits for a CPU, while it is stopped all the time. The other CPUs used to be
// reported as late if the one that stops them was the first to run again.
func TestPauseMakesNoCPULate(t *testing.T) {
	runsBeside(t)
	const limit = time.Second // smp.StopLimit
	pauses, runs := 4, 1
	if long() {
		pauses, runs = 8, 3
	}
	con := startConsole(t, machine.Config{Image: imagePath(t, testImage), SMP: 4})
	con.enter(strings.Repeat("ktest stop/code_at_any; ", runs) + "poweroff")
	con.see(`=== stop/code`)
	for range pauses {
		time.Sleep(limit / 10)
		con.signal(syscall.SIGSTOP)
		time.Sleep(limit + limit/4) // not a wait for something: the pause itself
		con.signal(syscall.SIGCONT)
	}
	r := con.wait()
	if n := strings.Count(string(r.Log), "1 passed, 0 failed"); n != runs {
		t.Errorf("%d of %d passed\n%s", n, runs, said(r))
	}
}

// signal sends QEMU a signal.
func (c *console) signal(s syscall.Signal) {
	c.Helper()
	if err := c.Signal(s); err != nil {
		c.Fatal(err)
	}
}
