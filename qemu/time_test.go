package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// lineClock notes when each line arrives. Its Write calls come one at a time.
type lineClock struct {
	text string
	at   []time.Time
}

func (l *lineClock) Write(b []byte) (int, error) {
	l.text += string(b)
	for len(l.at) < strings.Count(l.text, "\n") {
		l.at = append(l.at, time.Now())
	}
	return len(b), nil
}

// TestTenSecondsAreTenSeconds compares the guest's clock, and what it sleeps
// by, with the host's.
func TestTenSecondsAreTenSeconds(t *testing.T) {
	skipIfShort(t)
	const want = 10 * time.Second
	for _, m := range []string{"q35", "microvm"} {
		t.Run(m, func(t *testing.T) {
			t.Parallel() // it sleeps
			var clock lineClock
			r := bootScript(t, normalImage, machine.Config{
				Machine: m, SMP: 2, Stdout: &clock, Script: "cat /proc/uptime; sleep 10; cat /proc/uptime",
			})
			if r.Status != 0 || len(clock.at) != 2 {
				t.Fatal(said(r))
			}
			outside := clock.at[1].Sub(clock.at[0])
			inside := uptimes(t, clock.text)
			t.Logf("%v in the guest, %v outside", inside, outside)
			for _, d := range []time.Duration{outside, inside} {
				if off := (d - want).Abs(); off > want/50 {
					t.Errorf("sleep 10 took %v: more than 2 %% off\n%s", d, said(r))
				}
			}
		})
	}
}

// uptimes returns the difference of the first numbers of two lines.
func uptimes(t *testing.T, text string) time.Duration {
	t.Helper()
	var a, b, idle float64
	if _, err := fmt.Sscan(text, &a, &idle, &b); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return time.Duration((b - a) * float64(time.Second))
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
// stock Linux takes to its first line of user space on the same QEMU.
func TestBootTime(t *testing.T) {
	skipIfShort(t)
	const limit = 2 * time.Second
	for _, m := range []string{"q35", "microvm"} {
		t.Run(m, func(t *testing.T) {
			var took []time.Duration
			for range 3 {
				from := time.Now()
				c := startConsole(t, machine.Config{Machine: m, SMP: 2})
				c.see(prompt)
				took = append(took, time.Since(from).Round(time.Millisecond))
				c.key("poweroff\r")
				c.wait()
			}
			t.Log(took)
			if best := slices.Min(took); best > limit {
				t.Errorf("%v to the prompt at best, want at most %v", best, limit)
			}
		})
	}
}
