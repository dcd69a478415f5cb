//go:build tamago

package bpf

import (
	"runtime"
	"sync"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/optprobe"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/fused_and_replaced", fusedReplaced)
	suites.Add("bpf/fused_and_replaced_by_breakpoints", func(t *suites.T) { byBreakpoints(t, fusedReplaced) })
	suites.Add("bpf/fused_and_closed_by_a_handler", fusedClosed)
}

// fusedReplaced: one program after another takes a place while it is hit. Each has counted what it was hit, and no hit
// is without a program.
func fusedReplaced(t *suites.T) {
	p := load(t, count)
	l := p.fusedAt(t, pkg+"entered")
	var over atomic.Bool
	var callers sync.WaitGroup
	var calls atomic.Uint64
	for range cpu.Num() {
		callers.Go(func() {
			for n := uint64(0); ; n++ {
				if n%100 == 0 && over.Load() {
					calls.Add(n)
					return
				}
				if n%200 == 0 {
					runtime.Gosched()
				}
				entered(int(n), 2)
			}
		})
	}
	sum := uint64(0)
	for range suites.Rounds(20, 200) {
		next := load(t, count)
		other := next.attach(t, pkg+"entered")
		sum += p.counted(t, l)
		p, l = next, other
		t.Must(optprobe.Optimize())
		runtime.GC()
	}
	over.Store(true)
	callers.Wait()
	if sum += p.counted(t, l); sum < calls.Load() {
		t.Errorf("%d hits of %d calls", sum, calls.Load())
	}
	t.Logf("%d calls", calls.Load())
}

// counted closes the program, and returns what it has counted.
func (p *loaded) counted(t *suites.T, l *program.Link) uint64 {
	l.Close()
	led, sum := l.Ledger(), word(t, p.maps[0], key4(0))
	if led.Handled != sum || led.Entered != led.Handled+led.Recursion || led.Unexplained() != 0 {
		t.Errorf("the map has %d: %+v", sum, led)
	}
	p.close()
	return led.Entered
}

// fusedClosed: a handler that would take a program away is abandoned, and the program stays.
func fusedClosed(t *suites.T) {
	p := load(t, count)
	defer p.close()
	l := p.fusedAt(t, pkg+"entered")
	defer l.Close()
	k := &kprobes.Kprobe{SymbolName: "sonde/" + pkg + "cube", PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { l.Close(); return 0 }}
	t.Must(kprobes.RegisterKprobe(k))
	cube(3)
	led := k.Ledger()
	kprobes.UnregisterKprobe(k)
	entered(1, 2)
	way(t, l, "fused")
	if led.Abandoned != 1 || l.Ledger().Handled != 1 {
		t.Errorf("the handler: %+v; the program: %+v", led, l.Ledger())
	}
}
