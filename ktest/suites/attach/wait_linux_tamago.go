//go:build tamago && !nolinux

package attach

import (
	"errors"
	"math"
	"syscall"

	kbpf "sonde/kernel/bpf"
	"sonde/kernel/cpu"
	"sonde/kernel/glass"
	"sonde/kernel/tracepoint"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("attach/one_wait_for_places_of_all_kinds", oneWait)
	suites.Add("attach/one_wait_for_versions_of_a_program", oneWaitOfVersions)
}

// oneWait: a link at places of all kinds asks all CPUs as often as one at a single function does: when code has been
// written, and to wait for them.
func oneWait(t *suites.T) {
	places := []string{pkg + "square", pkg + "squareToo+0x0", "ret:" + pkg + "square", "w@printk.consoleLevel:4", "x@" + pkg + "squareToo", "tick:100hz", "tick:50hz",
		"/bin/cat:syscall.write", "ret:/bin/cat:syscall.read", "sys:write", "ret:sys:read"}
	for _, e := range tracepoint.All()[:10] {
		places = append(places, "event:"+e.String())
	}
	run(t, "true")
	asFunction(t, func() link { return attachTo(t, countHit, nil, places...) })
}

// oneWaitOfVersions: so does a link of a program that has a version for each of three places.
func oneWaitOfVersions(t *suites.T) {
	p, _, err := kbpf.Assemble("nothing", "r0 = 0\nexit")
	t.Must(err)
	prog, err := kbpf.Load(p, nil)
	t.Must(err)
	defer prog.Close()
	as := asItWas(t)
	if _, err := prog.Attach("", pkg+"square", "vfs_rename", "do_group_exit+0x1"); !errors.Is(err, syscall.EILSEQ) || len(prog.Links()) != 0 {
		t.Errorf("the last of three places is none: %v, %d links", err, len(prog.Links()))
	}
	as()
	asFunction(t, func() link {
		l, err := prog.Attach("", pkg+"square", "vfs_rename", "do_group_exit")
		t.Must(err)
		return l
	})
}

type link interface{ Close() }

// asFunction fails if attaching and closing ask the CPUs more often than for a function.
func asFunction(t *suites.T, attach func() link) {
	if cpu.Num() == 1 {
		t.Skipf("there are no other CPUs to wait for")
	}
	kprobes.SetJumps(false)
	defer kprobes.SetJumps(true)
	attachTo(t, countHit, nil, "tick:50hz", pkg+"square").Close() // what is done once is done
	attached, closed := waits(t, func() link { return attachTo(t, countHit, nil, pkg+"square") })
	if attached == 0 || closed == 0 {
		t.Errorf("nobody waits for the CPUs: %d, %d", attached, closed)
	}
	if a, c := waits(t, attach); a != attached || c != closed {
		t.Errorf("it asks the CPUs %d times, and when it is closed %d times; a function %d and %d times", a, c, attached, closed)
	}
}

// waits returns how often all CPUs are asked when a link is attached and when it is closed, the least of several times:
// others may ask them, too.
func waits(t *suites.T, attach func() link) (attached, closed int) {
	attached, closed = math.MaxInt, math.MaxInt
	for range 5 {
		var l link
		attached = min(attached, asked(t, func() { l = attach() }))
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
