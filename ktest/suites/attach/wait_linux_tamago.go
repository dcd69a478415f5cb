//go:build tamago && !nolinux

package attach

import (
	"errors"
	"math"
	"syscall"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/cpu"
	"sonde/kernel/tape"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/linux/perf"
	"sonde/probe/event"
	"sonde/probe/program"
)

func init() {
	suites.Add("attach/one_wait_for_places_of_all_kinds", oneWait)
	suites.Add("attach/one_wait_for_versions_of_a_program", oneWaitOfVersions)
	suites.Add("attach/one_wait_for_programs_of_an_object", oneWaitOfObject)
	suites.Add("attach/one_wait_for_a_program_of_an_event", oneWaitOfEvent)
	suites.Add("attach/one_wait_for_probes_of_a_script", oneWaitOfScript)
}

// oneWait: a link at places of all kinds asks all CPUs as often as one at a single function does: when code has been
// written, and to wait for them.
func oneWait(t *suites.T) {
	places := []string{pkg + "square", pkg + "squareToo+0x0", "ret:" + pkg + "square", "w@printk.consoleLevel:4", "x@" + pkg + "squareToo", "tick:100hz", "tick:50hz",
		"/bin/cat:syscall.write", "ret:/bin/cat:syscall.read", "sys:write", "ret:sys:read"}
	for _, e := range event.All()[:10] {
		places = append(places, "event:"+e.String())
	}
	run(t, "true")
	asFunction(t, func() link { return attachTo(t, countHit, nil, places...) })
}

// oneWaitOfVersions: so does a link of a program that has a version for each of three places.
func oneWaitOfVersions(t *suites.T) {
	prog := loaded(t, bpf.Kprobe)
	defer prog.Close()
	as := asItWas(t)
	if _, err := prog.AttachTo(nil, pkg+"square", "vfs_rename", "do_group_exit+0x1"); !errors.Is(err, syscall.EILSEQ) || len(prog.Links()) != 0 {
		t.Errorf("the last of three places is none: %v, %d links", err, len(prog.Links()))
	}
	as()
	asFunction(t, func() link {
		l, err := prog.AttachTo(nil, pkg+"square", "vfs_rename", "do_group_exit")
		t.Must(err)
		return l
	})
}

// oneWaitOfObject: so do the programs of an object file.
func oneWaitOfObject(t *suites.T) {
	s := &program.Set{}
	defer s.Close()
	for range 3 {
		s.Progs = append(s.Progs, loaded(t, bpf.Kprobe))
	}
	as := asItWas(t)
	s.Places = []string{pkg + "square", pkg + "squareToo", "do_group_exit+0x1"}
	err := s.Attach("")
	for _, p := range s.Progs {
		if !errors.Is(err, syscall.EILSEQ) || len(p.Links()) != 0 {
			t.Errorf("the last of three places is none: %v, %d links", err, len(p.Links()))
		}
	}
	as()
	s.Places[2] = "do_group_exit"
	asFunction(t, func() link {
		t.Must(s.Attach(""))
		return setLink{s}
	})
	as()
}

type setLink struct{ s *program.Set }

func (l setLink) Close() { l.s.Detach() }

// oneWaitOfEvent: an event that counts accesses to a word, and gets a program, asks all CPUs once: the program's
// watchpoint comes when that of the count goes.
func oneWaitOfEvent(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("there are no other CPUs to wait for")
	}
	const breakpoint, write = 5, 2 // of struct perf_event_attr
	attr := perf.Attr{Type: breakpoint, BreakType: write, Config1: uint64(uintptr(unsafe.Pointer(&watched))), Config2: 8}
	prog := loaded(t, bpf.PerfEvent)
	defer prog.Close()
	as := asItWas(t)
	least := math.MaxInt
	for range 5 {
		least = min(least, askedFor(t, attr, prog))
	}
	if least != 1 {
		t.Errorf("it asks the CPUs %d times, want once", least)
	}
	as()
}

// askedFor returns how often the CPUs are asked when an event gets a program.
func askedFor(t *suites.T, attr perf.Attr, prog *program.Prog) int {
	f, err := perf.Open(&perf.Request{Attr: attr})
	t.Must(err)
	defer f.Close()
	e, err := perf.Of(f)
	t.Must(err)
	return asked(t, func() { t.Must(e.SetProgram(prog, 0)) })
}

// oneWaitOfScript: three probes of a script ask the CPUs as often as one.
func oneWaitOfScript(t *suites.T) {
	if cpu.Num() == 1 {
		t.Skipf("there are no other CPUs to wait for")
	}
	kprobes.SetJumps(false)
	defer kprobes.SetJumps(true)
	var least, graces [2]int
	for i, rest := range []string{"", " kprobe:vfs_unlink { exit(); } kprobe:vfs_rmdir { exit(); }"} {
		least[i], graces[i] = math.MaxInt, math.MaxInt
		for range 5 {
			n, g := waited(t, func() { run(t, "bt -q -e 'BEGIN { exit(); } kprobe:vfs_rename { exit(); }"+rest+"'") })
			least[i], graces[i] = min(least[i], n), min(graces[i], g)
		}
	}
	if least[0] == 0 || least[1] != least[0] {
		t.Errorf("one probe asks the CPUs %d times, three %d times", least[0], least[1])
	}
	if graces[0] == 0 || graces[1] != graces[0] {
		t.Errorf("one probe waits for %d grace periods, three for %d", graces[0], graces[1])
	}
}

// loaded returns a program of a type that does nothing.
func loaded(t *suites.T, as bpf.Type) *program.Prog {
	p, _, err := program.Assemble("nothing", "r0 = 0\nexit")
	t.Must(err)
	p.Type = as
	prog, err := program.Load(p, nil, nil)
	t.Must(err)
	return prog
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
func asked(t *suites.T, f func()) int {
	n, _ := waited(t, f)
	return n
}

// waited returns how often all CPUs are called during f, and how many grace periods begin.
func waited(t *suites.T, f func()) (asked, graces int) {
	t.Must(tape.Start())
	func() {
		defer tape.Stop() // f may end the case
		f()
	}()
	events, _ := tape.Stop()
	for _, e := range events {
		switch e.What {
		case tape.Serialized:
			asked++
		case tape.GraceBegins:
			graces++
		}
	}
	return asked / cpu.Num(), graces
}
