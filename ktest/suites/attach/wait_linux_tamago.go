//go:build tamago && !nolinux

package attach

import (
	"math"

	"sonde/kernel/attach"
	"sonde/kernel/cpu"
	"sonde/kernel/glass"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() { suites.Add("attach/one_wait_for_places_of_all_kinds", oneWait) }

// oneWait: a link at places of all kinds asks all CPUs as often as one at a single function does: when code has been
// written, and to wait for them. Tracepoints write the code of each in turn.
func oneWait(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("there are no other CPUs to wait for")
	}
	run(t, "true")
	kprobes.SetJumps(false)
	defer kprobes.SetJumps(true)
	attachTo(t, countHit, nil, "tick:50hz", pkg+"square").Close() // what is done once is done
	attached, closed := waits(t, pkg+"square")
	if attached == 0 || closed == 0 {
		t.Errorf("nobody waits for the CPUs: %d, %d", attached, closed)
	}
	all := []string{pkg + "square", pkg + "squareToo+0x0", "ret:" + pkg + "square", "w@printk.consoleLevel:4", "tick:100hz", "tick:50hz",
		"/bin/cat:syscall.write", "ret:/bin/cat:syscall.read", "sys:write", "ret:sys:read"}
	for written, places := range [][]string{all, append(all, "event:go:gc_start"), append(all, "event:go:gc_start", "event:sched:sched_switch")} {
		if a, c := waits(t, places...); a != attached+written || c != closed+written {
			t.Errorf("%d places ask the CPUs %d times, and when they are closed %d times; a function %d and %d times", len(places), a, c, attached, closed)
		}
	}
}

// waits returns how often all CPUs are asked when a link is attached and when it is closed, the least of several times:
// others may ask them, too.
func waits(t *suites.T, places ...string) (attached, closed int) {
	attached, closed = math.MaxInt, math.MaxInt
	for range 5 {
		var l *attach.Link
		attached = min(attached, asked(t, func() { l = attachTo(t, countHit, nil, places...) }))
		closed = min(closed, asked(t, l.Close))
	}
	return attached, closed
}

// asked returns how often all CPUs are called during f.
func asked(t *suites.T, f func()) (n int) {
	t.Must(glass.Start())
	f()
	events, _ := glass.Stop()
	for _, e := range events {
		if e.What == glass.Serialized {
			n++
		}
	}
	return n / (cpu.Num() - 1)
}
