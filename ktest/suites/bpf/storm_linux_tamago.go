//go:build tamago && !nolinux

package bpf

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/optprobe"
	"sonde/probe/attach"
	"sonde/probe/program"
)

func init() { suites.Add("bpf/all_kinds_in_a_storm", allKinds) }

// rounds is how often the busy program goes round.
const rounds = 200

// least is how many hits each place has when the storm is over.
const least = 20

// busy is a program that counts in ProgramData, calls a function and the kernel, rounds times.
var busy = []byte{
	0x41, 0xbc, rounds & 0xff, rounds >> 8, 0, 0, // mov r12d, rounds
	0x48, 0xff, 0x04, 0x25, suites.ProgramData & 0xff, suites.ProgramData >> 8 & 0xff, suites.ProgramData >> 16, 0, // again: inc qword [ProgramData]
	0xe8, 21, 0, 0, 0, // call f
	0xb8, 24, 0, 0, 0, 0x0f, 0x05, // sched_yield()
	0x41, 0xff, 0xcc, 0x75, 0xe7, // dec r12d; jnz again
	0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05, // exit(0)
	0x90, 0xc3, // f: nop; ret
}

const busyFunction = suites.ProgramAt + 40

// An attached program counts its hits at one place.
type attached struct {
	*loaded
	link *program.Link
}

func attachCount(t *suites.T, place string) attached {
	p := load(t, count)
	return attached{p, p.attach(t, place)}
}

// end detaches the program, and checks what it has counted.
func (a attached) end(t *suites.T, least uint64) {
	a.link.Close()
	a.balance(t, a.link, least)
	a.close()
}

// always are places that are hit until the storm is over: a jump or a breakpoint that is boosted, one that
// is emulated, one that is stepped (see stepped), returns, data, times, and what shells do.
var always = []string{
	pkg + "square", pkg + "square+0x4", pkg + "cube", "ret:" + pkg + "square", "ret:" + pkg + "cube", "w@" + pkg + "watched", "tick:1000hz", "every:1ms",
	"sys:write", "ret:sys:write", "/bin/sh:syscall.write", "ret:/bin/sh:syscall.write",
}

// allKinds has a program at places of all kinds at once, on all CPUs, while the collector runs, stacks grow,
// probes become jumps and breakpoints again, and further programs come and go at the same places.
func allKinds(t *suites.T) {
	t.SeveralProcessors()
	t.NeedPrograms()
	var links []attached
	for _, place := range always {
		links = append(links, attachCount(t, place))
	}
	step := stepped(t)
	over := disturb(t)
	defer over.Store(true) // if what is waited for below does not come
	again := func() bool { return !over.Load() }
	t.Go(func() { comeAndGo(t, again) })
	inProcess := runBusy(t)
	t.Until("hits everywhere", func() bool {
		time.Sleep(time.Millisecond)
		for _, a := range links {
			if a.link.Ledger().Handled < least {
				return false
			}
		}
		return links[0].link.Ledger().Handled > 10_000
	})
	over.Store(true)
	t.Wait()
	step()
	for _, a := range append(links, inProcess...) {
		a.end(t, least)
	}
}

// stepped registers a post-handler where cube's program is, so that each hit there is a single step.
func stepped(t *suites.T) (end func()) {
	var steps atomic.Uint64
	k := &kprobes.Kprobe{SymbolName: pkg + "cube", PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { steps.Add(1) }}
	t.Must(kprobes.RegisterKprobe(k))
	return func() {
		kprobes.UnregisterKprobe(k)
		if steps.Load() < least {
			t.Errorf("%d hits were stepped", steps.Load())
		}
	}
}

// disturb makes hits, and what may interfere with them, until over is set. The case waits for it.
func disturb(t *suites.T) (over *atomic.Bool) {
	over = new(atomic.Bool)
	was := optprobe.Optimization.Get()
	_, stop := callers()
	repeat := func(f func(n int)) {
		t.Go(func() {
			for n := 0; !over.Load(); n++ {
				f(n)
			}
		})
	}
	repeat(func(n int) { watched = uint64(n); time.Sleep(100 * time.Microsecond) })
	repeat(func(int) { // a new stack is small
		var wg sync.WaitGroup
		wg.Add(1)
		go func() { defer wg.Done(); grow(40) }()
		wg.Wait()
	})
	repeat(func(n int) {
		t.Must(optprobe.Optimization.Store(n%2 == 0))
		time.Sleep(2 * time.Millisecond)
	})
	repeat(func(int) {
		if status := suites.Script(io.Discard, `/bin/sh -c "for i in 1 2 3 4 5 6 7 8 9; do echo x; done" > /dev/null`); status != 0 {
			t.Errorf("status %d", status)
		}
	})
	t.Go(func() {
		for !over.Load() {
			time.Sleep(time.Millisecond)
		}
		stop()
		t.Must(optprobe.Optimization.Store(was))
	})
	return over
}

// comeAndGo loads programs, attaches them beside the others, and unloads them while they are hit.
func comeAndGo(t *suites.T, again func() bool) {
	for i := 0; again(); i++ {
		a := attachCount(t, always[i%len(always)])
		for again() && a.link.Ledger().Handled < 3 {
			time.Sleep(100 * time.Microsecond)
		}
		if i%2 == 0 {
			a.end(t, 0)
		} else {
			a.close() // at once, with its hits in flight
		}
	}
}

// runBusy runs a process with programs at its function, at the return, at its data and at its calls.
func runBusy(t *suites.T) (all []attached) {
	const path = "/tmp/busy"
	suites.WriteProgram(t, path, busy)
	defer vfs.Remove(path)
	p := suites.StartProgram(t, path, func(p *proc.Process) {
		for _, s := range []attach.Site{
			{Kind: attach.Program, Addr: busyFunction}, {Kind: attach.Program, Return: true, Addr: busyFunction},
			{Kind: attach.Watch, Addr: suites.ProgramData, Length: 8}, {Kind: attach.Call, Symbol: "sched_yield"},
		} {
			s.PID = p.PID
			all = append(all, attachCount(t, s.String()))
		}
	})
	if s := suites.WaitProgram(t, p); s != 0 {
		t.Errorf("exit %d, signal %d", s.Code(), s.Signal())
	}
	for _, a := range all {
		if n := a.link.Ledger().Handled; n != rounds {
			t.Errorf("%s: %d hits, not %d", a.link.Places()[0].Where, n, rounds)
		}
	}
	return all
}
