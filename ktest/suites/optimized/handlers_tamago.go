//go:build tamago

package optimized

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/probe/handler"
)

func init() {
	suites.Add("optimized/handlers_that_break_the_rules", breakRules)
	suites.Add("optimized/handler_that_loops_for_ever", loopsForEver)
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

// violations are what a handler may not do.
var violations = []struct {
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

// breakRules makes each handler commit each violation: alone at its place, and between others.
func breakRules(t *suites.T) {
	t.OneProcessor()
	for _, m := range violations {
		contained(t, m.name, m.f)
	}
	clean(t)
}

// contained makes a handler of each kind call f once, at the third hit.
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

// isContained: the handler is abandoned, the probe disabled, the others called, and each call
// returns what it should.
func isContained(t *suites.T, what string, b bad, armed *atomic.Bool, alone bool) {
	const calls = 13
	since := suites.Mark()
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
		suites.Equal(t, what+": victim", victim(i), 3*i+3)
	}
	if n := strings.Count(suites.Log(since), "abandoned: "); n != 1 {
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

// well makes every CPU hit an optimized probe elsewhere.
func well(t *suites.T, what string) {
	const calls = 20
	k := at(entry(bystander), pre)
	optimized(t, k)
	t.Together(func(int) {
		for i := range uint64(calls) {
			suites.Equal(t, what+": bystander", bystander(i), i^9)
		}
	})
	kprobes.UnregisterKprobe(k)
	account(t, k, what+": bystander", calls*uint64(cpu.Num()), 0)
}

// loopsForEver needs no other CPU: interrupts come in such a handler, and one of
// them ends it.
func loopsForEver(t *suites.T) {
	old := handler.Limit.Get()
	t.Must(handler.Limit.Store(300)) // a busy host may keep us off the CPU for 100 ms
	defer func() { t.Must(handler.Limit.Store(old)) }()
	contained(t, "loops for ever", func() {
		for end := cpu.Nanotime() + 20e9; cpu.Nanotime() < end; {
			sink++
		}
	})
	clean(t)
}
