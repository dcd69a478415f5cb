//go:build tamago

package optimized

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/qemu/suites"
)

func init() {
	suites.Add("optimized/handlers_that_break_the_rules", breakRules)
	suites.Add("optimized/handler_that_loops_for_ever", loopsForEver)
	suites.Add("optimized/probes_below_a_handler_are_missed_exactly", missedExactly)
	suites.Add("optimized/interrupts_come_in_a_handler", interruptsCome)
	suites.Add("optimized/functions_of_interrupt_handlers", interruptHandlers)
}

//go:noinline
func victim(a uint64) uint64 { return a*3 + 3 }

//go:noinline
func bystander(a uint64) uint64 { return a ^ 9 }

var (
	kept    atomic.Pointer[[]byte]
	nilWord *uint64
	zero    uint64
	empty   = make(chan int)
	held    sync.Mutex
)

func init() { held.Lock() } // for good

// misdeeds are what a handler may not do.
var misdeeds = []struct {
	name string
	f    func()
}{
	{"allocates", func() { b := make([]byte, 100); kept.Store(&b) }},
	{"panics", func() { panic("a handler's") }},
	{"receives", func() { sink = uint64(<-empty) }},
	{"locks what is held", func() { held.Lock() }},
	{"sleeps", func() { time.Sleep(time.Millisecond) }},
	{"reads through nil", func() { sink = *nilWord }},
	{"divides by zero", func() { sink = 1 / zero }},
	{"executes an invalid opcode", trap.InvalidOpcode},
	{"recurses without end", func() { sink = endless(1) }},
}

// A bad probe is one whose handler calls f.
type bad struct {
	what     string
	register func() error
	remove   func()
	ledger   func() kprobes.Ledger
}

// bads returns a probe of each kind that a detour may call, on victim.
func bads(f func()) []bad {
	k := at(entry(victim), func(*kprobes.Kprobe, *amd64.Regs) int { f(); return 0 })
	in := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(victim)}, MaxActive: 4, Handler: ret,
		EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { f(); return 0 }}
	out := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(victim)}, MaxActive: 4,
		Handler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { f(); return 0 }}
	return []bad{
		{"pre-handler", func() error { return kprobes.RegisterKprobe(k) }, func() { kprobes.UnregisterKprobe(k) }, k.Ledger},
		{"entry handler", func() error { return kprobes.RegisterKretprobe(in) }, func() { kprobes.UnregisterKretprobe(in) }, in.Ledger},
		{"return handler", func() error { return kprobes.RegisterKretprobe(out) }, func() { kprobes.UnregisterKretprobe(out) }, out.Ledger},
	}
}

// breakRules commits each misdeed in each handler: alone at its place, and
// between others.
func breakRules(t *suites.T) {
	for _, m := range misdeeds {
		contained(t, m.name, m.f)
	}
	clean(t)
}

// contained has f done once by a handler of each kind, at the third hit.
func contained(t *suites.T, what string, f func()) {
	var armed atomic.Bool
	once := func() {
		if armed.CompareAndSwap(true, false) {
			f()
		}
	}
	for _, alone := range []bool{true, false} {
		for _, b := range bads(once) {
			isContained(t, what+" in a "+b.what, b, &armed, alone)
		}
	}
}

// isContained: the handler is given up, the probe disabled, the others called,
// and each call returns what it should.
func isContained(t *suites.T, what string, b bad, armed *atomic.Bool, alone bool) {
	const calls = 13
	since := mark()
	first, last := at(entry(victim), pre), at(entry(victim), pre)
	if !alone {
		register(t, first)
	}
	t.Must(b.register())
	if !alone {
		register(t, last)
	}
	optimize(t)
	hasJump(t, what, entry(victim))
	for i := range uint64(calls) {
		armed.Store(i == 2)
		expect(t, what+": victim", victim(i), 3*i+3)
	}
	if n := strings.Count(logged(since), "abandoned: "); n != 1 {
		t.Errorf("%s: %d reports", what, n)
	}
	b.remove()
	if !alone {
		kprobes.UnregisterKprobes([]*kprobes.Kprobe{first, last})
		account(t, first, what+", registered before", calls, 0)
		account(t, last, what+", registered after", calls, 0)
	}
	l := b.ledger()
	if l.Handled != 2 || l.Abandoned != 1 || l.InFlight != 0 || l.Unexplained() != 0 {
		t.Errorf("%s: account %+v, unexplained %d", what, l, l.Unexplained())
	}
	well(t, what)
}

// well has every CPU hit an optimized probe elsewhere.
func well(t *suites.T, what string) {
	const calls = 20
	k := at(entry(bystander), pre)
	optimized(t, k)
	t.Together(func(int) {
		for i := range uint64(calls) {
			expect(t, what+": bystander", bystander(i), i^9)
		}
	})
	kprobes.UnregisterKprobe(k)
	account(t, k, what+": bystander", calls*uint64(cpu.Num()), 0)
}

// loopsForEver needs no other CPU: interrupts come in such a handler, and one of
// them ends it.
func loopsForEver(t *suites.T) {
	old := kprobes.HandlerLimit.Get()
	t.Must(kprobes.HandlerLimit.Store(300)) // a busy host can be away for 100 ms
	defer func() { t.Must(kprobes.HandlerLimit.Store(old)) }()
	contained(t, "loops for ever", func() {
		for end := cpu.Nanotime() + 20e9; cpu.Nanotime() < end; {
			sink++
		}
	})
	clean(t)
}

// missedExactly has handlers, called by a jump, by a breakpoint and at a return,
// call an optimized function.
func missedExactly(t *suites.T) {
	const calls = 200
	var wrong atomic.Uint64
	visit := func() {
		if bystander(6) != 15 {
			wrong.Add(1)
		}
	}
	below, rbelow := at(entry(bystander), pre), &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(bystander)}, Handler: ret, MaxActive: 64}
	register(t, below)
	t.Must(kprobes.RegisterKretprobe(rbelow))
	jump := at(entry(victim), func(*kprobes.Kprobe, *amd64.Regs) int { visit(); return 0 })
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(victim)}, MaxActive: 64,
		EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { visit(); return 0 },
		Handler:      func(*kprobes.KretprobeInstance, *amd64.Regs) int { visit(); return 0 }}
	t.Must(kprobes.RegisterKretprobe(rp))
	optimized(t, jump)
	hasJump(t, "below", below.Addr)
	visits := uint64(0)
	for _, breakpoint := range []bool{false, true} {
		if breakpoint {
			jump.PostHandler = func(*kprobes.Kprobe, *amd64.Regs, uint64) { visit() }
			kprobes.UnregisterKprobe(jump)
			account(t, jump, "victim", calls*uint64(cpu.Num()), 0)
			jump.Addr = entry(victim)
			register(t, jump)
			hasNone(t, "with a post-handler", jump.Addr)
			visits += calls * uint64(cpu.Num())
		}
		t.Together(func(int) {
			for i := range uint64(calls) {
				expect(t, "victim", victim(i), 3*i+3)
			}
		})
		visits += 3 * calls * uint64(cpu.Num())
	}
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterKretprobe(rbelow)
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{jump, below})
	account(t, below, "below", 0, visits)
	expect(t, "return probe below", rbelow.NMissed(), visits)
	settled(t, rbelow)
	settled(t, rp)
	expect(t, "wrong results in handlers", wrong.Load(), 0)
	clean(t)
}

// symbol returns the address of a function by its name.
func symbol(t *suites.T, name string) uintptr {
	s, err := kallsyms.Resolve(name)
	t.Must(err)
	return uintptr(s.Addr)
}

// interruptsCome has a handler send its own CPU an interrupt, whose function is
// probed as well, and call a third probed function: all of that is nested.
func interruptsCome(t *suites.T) {
	const calls = 300
	var lost, odd atomic.Uint64
	wake, third := at(symbol(t, "sonde/kernel/irq.wake"), pre), at(entry(bystander), pre)
	outer := at(entry(victim), func(*kprobes.Kprobe, *amd64.Regs) int {
		id := cpu.ID()
		n := trap.Count(id, cpu.VecWake)
		cpu.SendIPI(id, cpu.VecWake)
		for end := cpu.Nanotime() + 100e6; trap.Count(id, cpu.VecWake) == n; {
			if bystander(6) != 15 || cpu.ID() != id {
				odd.Add(1)
			}
			if cpu.Nanotime() > end {
				lost.Add(1)
				break
			}
		}
		return 0
	})
	optimized(t, outer, wake, third)
	t.Together(func(int) {
		for i := range uint64(calls) {
			expect(t, "victim", victim(i), 3*i+3)
		}
	})
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{outer, wake, third})
	n := calls * uint64(cpu.Num())
	account(t, outer, "outer", n, 0)
	l := wake.Ledger()
	if l.Recursion < n-lost.Load() || l.Unexplained() != 0 {
		t.Errorf("the interrupt's probe: %+v, unexplained %d, want at least %d nested", l, l.Unexplained(), n)
	}
	account(t, third, "third", 0, third.NMissed())
	expect(t, "wrong results in handlers", odd.Load(), 0)
	if lost.Load() > n/10 {
		t.Errorf("%d of %d interrupts did not come in the handler", lost.Load(), n)
	}
	clean(t)
}

// interruptHandlers has jumps in what every interrupt calls.
func interruptHandlers(t *suites.T) {
	names := []string{"sonde/kernel/irq.timer", "sonde/kernel/irq.wake", "sonde/kernel/cpu.IRQRestore.abi0", "sonde/kernel/cpu.Nanotime"}
	var all []*kprobes.Kprobe
	for _, name := range names {
		k := at(symbol(t, name), pre)
		if err := kprobes.RegisterKprobe(k); err != nil {
			t.Logf("%v", err)
			continue
		}
		all = append(all, k)
	}
	optimize(t)
	n := 0
	for _, k := range all {
		if kprobes.Optimized(k.Addr) {
			n++
		}
	}
	t.Until("interrupts", func() bool {
		time.Sleep(time.Millisecond)
		return all[0].Hits() > 50
	})
	kprobes.UnregisterKprobes(all)
	for _, k := range all {
		account(t, k, "interrupt", k.Hits(), k.NMissed())
	}
	if n < 2 {
		t.Errorf("only %d of %d optimized", n, len(names))
	}
	clean(t)
}
