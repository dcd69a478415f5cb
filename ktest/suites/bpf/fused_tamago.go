//go:build tamago

package bpf

import (
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/bpf"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/ktest/suites"
	"sonde/optprobe"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/fused_counts_as_the_interpreter", fusedValues)
	suites.Add("bpf/fused_inside_a_handler", fusedInside)
	suites.Add("bpf/fused_goes_back", fusedGoesBack)
	suites.Add("bpf/fused_goes_back_by_breakpoints", func(t *suites.T) { byBreakpoints(t, fusedGoesBack) })
	suites.Add("bpf/fused_counts_by_breakpoints", func(t *suites.T) { byBreakpoints(t, fusedValues) })
	suites.Add("bpf/fused_filters_by_breakpoints", func(t *suites.T) { byBreakpoints(t, fusedFilters) })
	suites.Add("bpf/fused_while_stacks_grow", fusedGrows)
	suites.Add("bpf/fused_filters", fusedFilters)
	suites.Add("bpf/not_fused_and_why", notFused)
	for _, how := range []string{"alone", "second_probe", "optimization", "sysctl", "held", "in_interrupts", "removed"} {
		suites.Add("bpf/fused_storm_"+how, func(t *suites.T) { fusedStorm(t, how, count) })
		if how != "optimization" {
			suites.Add("bpf/fused_storm_of_breakpoints_"+how, func(t *suites.T) {
				byBreakpoints(t, func(t *suites.T) { fusedStorm(t, how, count) })
			})
		}
	}
}

// byBreakpoints runs a case while there are no jumps.
func byBreakpoints(t *suites.T, run func(*suites.T)) {
	t.Must(optprobe.Optimization.Store(false))
	defer func() { t.Must(optprobe.Optimization.Store(true)) }()
	run(t)
}

// fusedAt attaches the program, and checks that it is fused at the first place.
func (p *loaded) fusedAt(t *suites.T, places ...string) *program.Link {
	l := p.attach(t, places...)
	t.Must(optprobe.Optimize())
	way(t, l, "fused")
	return l
}

// way checks how the first place of a link is hit.
func way(t *suites.T, l *program.Link, want string) {
	if at := l.Places()[0]; at.Way != want {
		d, _ := kprobes.Describe("", uintptr(at.Addr))
		t.Errorf("%s: %s, not %s: %s", at.Where, at.Way, want, d.Unfit)
	}
}

// entered is a function with room for a jump.
//
//go:noinline
func entered(n, m int) int { return n*1_000_003 ^ m }

const log2At = `
	map sizes percpu_array 4 520 1
	r3 = *(u64 *)(r1 + 80)
	*(u32 *)(r10 - 4) = 0
	r2 = r10
	r2 += -4
	r1 = map[idx:0]
	call 65542
	r0 = 0
	exit`

// fusedValues: all edges of a histogram's buckets.
func fusedValues(t *suites.T) {
	p := load(t, log2At)
	defer p.close()
	l := p.fusedAt(t, pkg+"entered")
	defer l.Close()
	var want, got [bpf.HistBuckets]uint64
	calls := uint64(0)
	hit := func(n int) {
		entered(n, 2)
		want[bpf.Bucket(int64(n))]++
		calls++
	}
	for _, n := range []int{0, 1, 2, 3, -1, -2, math.MinInt, math.MaxInt, math.MinInt + 1} {
		hit(n)
	}
	for k := range 64 {
		for d := -1; d <= 1; d++ {
			hit(1<<k + d)
		}
	}
	value := make([]byte, 8*len(got))
	for i := range p.maps[0].Tables() {
		t.Must(p.maps[0].Lookup(i, key4(0), value))
		for b := range got {
			got[b] += binary.LittleEndian.Uint64(value[8*b:])
		}
	}
	if led := l.Ledger(); got != want || led.Handled != calls || led.Entered != calls {
		t.Errorf("%v, want %v; %+v", got, want, led)
	}
}

// fusedInside: a hit inside of a handler is missed, and one inside of a program is its recursion.
func fusedInside(t *suites.T) {
	p := load(t, count)
	defer p.close()
	l := p.fusedAt(t, pkg+"entered")
	defer l.Close()
	k := &kprobes.Kprobe{SymbolName: "sonde/" + pkg + "cube", PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { entered(1, 2); return 0 }}
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	for _, jump := range []bool{true, false} {
		t.Must(optprobe.Optimization.Store(jump))
		t.Must(optprobe.Optimize())
		before := l.Ledger()
		for i := range 100 {
			cube(uint64(i))
			entered(i, 2)
		}
		if now := l.Ledger(); now.Entered-before.Entered != 200 || now.Handled-before.Handled != 100 || now.Recursion-before.Recursion != 100 || now.Unexplained() != 0 {
			t.Errorf("by jumps %v: %+v, before %+v", jump, now, before)
		}
	}
	t.Must(optprobe.Optimization.Store(true))
	p.balance(t, l, 200)
}

// fusedGoesBack: whatever ends it has ended it when it returns, and each hit is counted.
func fusedGoesBack(t *suites.T) {
	p := load(t, count)
	defer p.close()
	l := p.fusedAt(t, pkg+"entered")
	other := &kprobes.Kprobe{SymbolName: "sonde/" + pkg + "entered", PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
	after := &kprobes.Kprobe{SymbolName: "sonde/" + pkg + "entered", PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) {}}
	ret := &kprobes.Kretprobe{KP: kprobes.Kprobe{SymbolName: "sonde/" + pkg + "entered"}}
	calls, missed := uint64(0), uint64(0)
	call := func() {
		for i := range 50 {
			entered(i, 2)
			calls++
		}
	}
	var stop func()
	for _, c := range []struct {
		name, way string
		end, undo func() error
	}{
		{"second probe", "jump", func() error { return kprobes.RegisterKprobe(other) }, func() error { kprobes.UnregisterKprobe(other); return nil }},
		{"return probe", "jump", func() error { return kprobes.RegisterKretprobe(ret) }, func() error { kprobes.UnregisterKretprobe(ret); return nil }},
		{"post-handler", "step", func() error { return kprobes.RegisterKprobe(after) }, func() error { kprobes.UnregisterKprobe(after); return nil }},
		{"watched", "jump", func() (err error) { stop, err = p.Watch(); return err }, func() error { stop(); return nil }},
		{"budget", "jump", func() error { return p.SetBudget(1000) }, func() error {
			missed += p.Account().Throttled // of a machine that was stopped: it has used up its time
			return p.SetBudget(0)
		}},
		{"held", "jump", func() error { missed += 50; return p.Hold(true) }, func() error { return p.Hold(false) }},
		{"sysctl", "jump", func() error { return detour.Fusing.Store(false) }, func() error { return detour.Fusing.Store(true) }},
		{"plain", "jump", func() error { return detour.Plain.Store(true) }, func() error { return detour.Plain.Store(false) }},
		{"disabled", "off", func() error { missed += 50; calls -= 50; return l.Enable(false) }, func() error { return l.Enable(true) }},
	} {
		call()
		t.Must(c.end())
		if at := l.Places()[0]; at.Way == "fused" {
			t.Errorf("%s: it is fused", c.name)
		}
		call()
		t.Must(c.undo())
		call()
		t.Must(optprobe.Optimize())
		way(t, l, "fused")
	}
	missed -= 50 // of the one that was disabled: no hits
	l.Close()
	if led, sum := l.Ledger(), word(t, p.maps[0], key4(0)); led.Handled != calls || led.Entered != calls || sum != calls-missed || led.Unexplained() != 0 {
		t.Errorf("%d calls, %d held or throttled: %+v, the map has %d", calls, missed, led, sum)
	}
}

// deeply needs its stack to grow.
//
//go:noinline
func deeply(n int) int {
	var page [64]int
	page[n&63] = n
	if n > 0 {
		return deeply(n-1) + page[n&63] - n
	}
	return 0
}

// fusedGrows: a call whose stack must grow first is one hit.
func fusedGrows(t *suites.T) {
	p := load(t, count)
	defer p.close()
	l := p.fusedAt(t, pkg+"deeply")
	const depth, rounds = 500, 20
	for range rounds {
		done := make(chan int)
		go func() { done <- deeply(depth) }()
		if got := <-done; got != 0 {
			t.Errorf("%d", got)
		}
	}
	l.Close()
	if led, sum := l.Ledger(), word(t, p.maps[0], key4(0)); led.Handled != rounds*(depth+1) || sum != led.Handled || led.Unexplained() != 0 {
		t.Errorf("%d calls: %+v, the map has %d", rounds*(depth+1), led, sum)
	}
}

// fusedFilters: conditions on arguments and on the CPU.
func fusedFilters(t *suites.T) {
	filtered := strings.Replace(count, "*(u32 *)(r10 - 4) = 0", `r6 = *(u64 *)(r1 + 80)
	if r6 s< 10 goto out
	r6 &= 1
	if r6 == 0 goto out
	*(u32 *)(r10 - 4) = 0`, 1)
	p := load(t, filtered)
	defer p.close()
	l := p.fusedAt(t, pkg+"entered")
	defer l.Close()
	want := uint64(0)
	for n := -50; n < 100; n++ {
		entered(n, 2)
		if n >= 10 && n&1 != 0 {
			want++
		}
	}
	if sum := word(t, p.maps[0], key4(0)); sum != want || l.Ledger().Handled != 150 {
		t.Errorf("%d, want %d; %+v", sum, want, l.Ledger())
	}
}

// notFused: what a program must not have.
func notFused(t *suites.T) {
	for _, c := range []struct{ old, new, why string }{
		{"out:", "out:	call 14\n", "a helper that is a function"},
		{"percpu_array", "array", "is not a per-CPU array"},
		{"percpu_array", "percpu_hash", "have 4 bytes"},
		{"percpu_array 4 8 1", "percpu_array 4 8 1000", "is not a per-CPU array"},
		{"*(u64 *)(r0 + 0) = r1", "r1 = atomic_fetch_add((u64 *)(r0 + 0), r1)", "otherwise than by adding"},
	} {
		p := load(t, strings.Replace(count, c.old, c.new, 1))
		l := p.attach(t, pkg+"entered")
		t.Must(optprobe.Optimize())
		way(t, l, "jump")
		if d, err := kprobes.Describe("", uintptr(l.Places()[0].Addr)); err != nil || !strings.Contains(d.Unfit, c.why) || d.Fused {
			t.Errorf("%q, %v; expected %q", d.Unfit, err, c.why)
		}
		if err := p.Fusible(); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v; expected %q", err, c.why)
		}
		l.Close()
		p.close()
	}
}

// fusedStorm: hits on all CPUs, while garbage is collected and something else goes on. Each is counted once.
func fusedStorm(t *suites.T, how, text string) {
	p := load(t, text)
	defer p.close()
	places := []string{pkg + "entered"}
	if how == "in_interrupts" {
		places = append(places, "kernel/irq.timer")
	}
	l := p.fusedAt(t, places...)
	var callers, others sync.WaitGroup
	var over atomic.Bool
	changes := 0
	others.Go(func() {
		for !over.Load() {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
	others.Go(func() {
		for ; !over.Load(); changes++ {
			disturbFused(t, p, how, changes&1 == 0)
			time.Sleep(time.Millisecond)
		}
	})
	each, held := suites.Rounds(100_000, 1_000_000), how == "held"
	for range cpu.Num() {
		callers.Go(func() {
			for i := range each {
				if i%200 == 0 {
					runtime.Gosched()
				}
				entered(i, 2)
			}
		})
	}
	callers.Wait()
	over.Store(true)
	others.Wait()
	disturbFused(t, p, how, false)
	calls := uint64(each * cpu.Num())
	first := l.Places()[0].Ledger
	l.Close()
	all, sum := l.Ledger(), p.total(t)
	if first.Entered != calls || first.Handled != calls || first.Unexplained() != 0 {
		t.Errorf("%d calls: %+v", calls, first)
	}
	if counted := sum + p.Recursion() + p.maps[0].Lost(); counted > all.Handled || counted < all.Handled && !held && how != "keys_go" || all.Unexplained() != 0 {
		t.Errorf("%+v, the map has %d, %d inside of others, %d did not fit", all, sum, p.Recursion(), p.maps[0].Lost())
	}
	if a := p.Account(); a.Unexplained != 0 {
		t.Errorf("%+v", a)
	}
	t.Logf("%d calls, %d changes", calls, changes)
}

var (
	beside = &kprobes.Kprobe{SymbolName: "sonde/" + pkg + "entered", PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
)

// disturbFused begins or ends what makes the place change its form.
func disturbFused(t *suites.T, p *loaded, how string, on bool) {
	switch how {
	case "second_probe":
		if on {
			t.Must(kprobes.RegisterKprobe(beside))
		} else {
			kprobes.UnregisterKprobe(beside)
			t.Must(optprobe.Optimize())
		}
	case "optimization":
		t.Must(optprobe.Optimization.Store(!on))
	case "sysctl":
		t.Must(detour.Fusing.Store(!on))
	case "held":
		t.Must(p.Hold(on))
	case "keys_go":
		for i := range p.maps[0].Tables() {
			for k := range uint64(16) {
				p.maps[0].Delete(i, key8(k))
			}
		}
	case "removed": // another program comes and goes, whose memory is used again
		if on {
			other := load(t, count)
			other.attach(t, pkg+"cube")
			t.Must(optprobe.Optimize())
			cube(3)
			other.close()
		}
	}
}
