//go:build tamago

package returns

import (
	"encoding/binary"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/several_probes_on_one_function", several)
	suites.Add("returns/with_a_jprobe", withJprobe)
	suites.Add("returns/thousand_goroutines_change_cpu", changeCPU)
	suites.Add("returns/in_a_handler_is_missed", inHandler)
}

// several registers three return probes and two kprobes alternately. Of
// the return handlers the last one registered is called first.
func several(t *suites.T) {
	const calls = 100
	var order [8]byte
	var next, wrongAddr uint64
	var caller uintptr
	note := func(who byte) { order[next%8] = who; next++ }
	ret := func(who byte) *kprobes.Kretprobe {
		rp := on(targets.Small, func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
			if note(who); who == 'c' {
				caller = ri.RetAddr // the first of a call; the others see the same, not the trampoline
			}
			if uint64(ri.RetAddr) != r.IP || ri.RetAddr != caller {
				wrongAddr++
			}
			return 0
		})
		rp.EntryHandler = func(*kprobes.KretprobeInstance, *amd64.Regs) int { note(who - 'a' + 'A'); return 0 }
		return rp
	}
	pre := func(who byte) *kprobes.Kprobe {
		return &kprobes.Kprobe{Addr: entry(targets.Small), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { note(who); return 0 }}
	}
	rps, ks := []*kprobes.Kretprobe{ret('a'), ret('b'), ret('c')}, []*kprobes.Kprobe{pre('1'), pre('2')}
	t.Must(kprobes.RegisterKretprobe(rps[0]))
	t.Must(kprobes.RegisterKprobe(ks[0]))
	t.Must(kprobes.RegisterKretprobe(rps[1]))
	t.Must(kprobes.RegisterKprobe(ks[1]))
	t.Must(kprobes.RegisterKretprobe(rps[2]))
	for range calls {
		suites.Equal(t, "Small", targets.Small(7), 45)
		if next%8 != 0 || string(order[:]) != "A1B2Ccba" {
			t.Fatalf("handlers called: %s", order[:])
		}
	}
	kprobes.UnregisterKprobes(ks)
	kprobes.UnregisterKretprobes(rps)
	suites.Equal(t, "wrong RetAddr", wrongAddr, 0)
	suites.Equal(t, "handlers", next, 8*calls)
	for _, rp := range rps {
		suites.Equal(t, "Handled", rp.Hits(), calls)
		balanced(t, rp)
	}
}

func withJprobe(t *suites.T) {
	var seen, returned uint64
	rp := on(targets.Leaf, func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
		returned += kprobes.RegsReturnValue(r)
		return 0
	})
	j := kprobes.NewJprobe(targets.Leaf, func(a, b uint64) uint64 {
		seen += a + b
		kprobes.JprobeReturn()
		return 0
	})
	for _, first := range []bool{true, false} {
		seen, returned = 0, 0
		if first {
			t.Must(kprobes.RegisterJprobe(j))
		}
		remove := register(t, rp)
		if !first {
			j.KP.Addr = entry(targets.Leaf)
			t.Must(kprobes.RegisterJprobe(j))
		}
		for range 100 {
			suites.Equal(t, "Leaf", targets.Leaf(5, 2), 17)
		}
		kprobes.UnregisterJprobe(j)
		remove()
		rp.KP.Addr = entry(targets.Leaf)
		suites.Equal(t, "arguments", seen, 700)
		suites.Equal(t, "results", returned, 1700)
	}
}

// changeCPU also shows that entry and return may be on different CPUs.
func changeCPU(t *suites.T) {
	t.SeveralProcessors()
	const goroutines = 1000
	var moved, entered atomic.Uint64
	rp := on(during, func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
		if binary.LittleEndian.Uint64(ri.Data) != uint64(cpu.ID()) {
			moved.Add(1)
		}
		return 0
	})
	rp.MaxActive, rp.DataSize = goroutines, 8
	rp.EntryHandler = func(ri *kprobes.KretprobeInstance, _ *amd64.Regs) int {
		binary.LittleEndian.PutUint64(ri.Data, uint64(cpu.ID()))
		return 0
	}
	remove := register(t, rp)
	for i := range uint64(goroutines) {
		t.Go(func() {
			n, _ := during(i, func() {
				entered.Add(1)
				t.Until("all to be inside", func() bool { return entered.Load() == goroutines })
				migrate()
			})
			suites.Equal(t, "result", n, i+1)
		})
	}
	t.Wait()
	remove()
	suites.Equal(t, "Handled", rp.Hits(), goroutines)
	suites.Equal(t, "NMissed", rp.NMissed(), 0)
	if cpu.Num() > 1 && moved.Load() == 0 {
		t.Errorf("no goroutine changed its CPU: nothing was tested")
	}
	t.Logf("%d of %d returned on another CPU", moved.Load(), goroutines)
}

// inHandler makes a handler call the probed function.
func inHandler(t *suites.T) {
	rp := on(targets.Leaf, nothing)
	remove := register(t, rp)
	var wrong uint64
	outside := on(targets.Nine, func(*kprobes.KretprobeInstance, *amd64.Regs) int {
		if targets.Leaf(3, 4) != 13 {
			wrong++
		}
		return 0
	})
	outside.EntryHandler = outside.Handler
	removeOutside := register(t, outside)
	for range 50 {
		suites.Equal(t, "Nine", targets.Nine(1, 2, 3, 4, 5, 6, 7, 8, 9), 285)
	}
	removeOutside()
	remove()
	suites.Equal(t, "wrong results in the handler", wrong, 0)
	suites.Equal(t, "NMissed: entered without an instance", rp.NMissed(), 0)
	suites.Equal(t, "NMissed of the entry: entered in a handler", rp.KP.NMissed(), 100)
	suites.Equal(t, "Recursion", rp.Ledger().Recursion, 100)
	suites.Equal(t, "Handled", rp.Hits(), 0)
}
