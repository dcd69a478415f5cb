//go:build tamago

package grace

import (
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/sysctl"
)

// plain returns 1.
func plain() uint64

// deaf sets *entered, keeps interrupts off until *leave is not 0, lets them come
// after the first instruction of opening, and returns 1.
func deaf(entered, leave *atomic.Uint32) uint64

// inside sets *entered, keeps interrupts off until the bit stopPending is in *pending,
// lets them come after the first instruction of opening, and returns 1.
func inside(entered, pending *atomic.Uint32) uint64

func places() (plain, plainTwin, opening, openingTwin uintptr)

const (
	// vecHold is the interrupt that holds a CPU.
	vecHold = 0x92
	// holdLimit ends a hold that a broken case would not end, in nanoseconds.
	holdLimit = 20e9

	sysctlName = "debug.kprobes-optimization"
)

// A hold is a CPU that stands in an interrupt, between two instructions that the
// case has chosen. It takes other interrupts meanwhile, so that whatever does not
// wait for a scheduling point continues.
type hold struct {
	ip       atomic.Uint64 // where it stands, 0: nowhere yet
	released atomic.Bool
	expired  atomic.Bool
	result   atomic.Uint64 // of the call that is held
	returned atomic.Bool
}

// newHold prepares to hold a CPU, until the function returned is called.
func newHold(t *suites.T) (h *hold, end func()) {
	if cpu.Num() == 1 {
		t.Skipf("one CPU: there is no other to hold")
	}
	collect := suites.NoCollection()
	h = &hold{}
	trap.SetHandler(vecHold, h.stand)
	return h, func() {
		h.released.Store(true)
		t.Wait()
		collect()
		if h.expired.Load() {
			t.Errorf("something waited for the CPU while it was held")
		}
	}
}

// stand is the interrupt.
func (h *hold) stand(r *amd64.Regs) {
	cpu.EOI()
	h.ip.Store(r.IP)
	flags := cpu.IRQOff()
	cpu.IRQRestore(flags | amd64.RFLAGS_IF)
	for end := cpu.Nanotime() + holdLimit; !h.released.Load(); cpu.Pause() {
		if cpu.Nanotime() > end {
			h.expired.Store(true)
			break
		}
	}
	cpu.IRQOff()
}

// call calls f in a goroutine and returns where the CPU that does is held.
func (h *hold) call(t *suites.T, f func() uint64) uintptr {
	t.Go(func() {
		h.result.Store(f())
		h.returned.Store(true)
	})
	until(t, "the CPU to be held", func() bool { return h.ip.Load() != 0 || h.returned.Load() })
	if h.ip.Load() == 0 {
		t.Fatalf("the CPU was not held")
	}
	return uintptr(h.ip.Load())
}

// callDeaf makes a goroutine call deaf and returns where the CPU is held: after the first
// instruction of opening.
func (h *hold) callDeaf(t *suites.T) uintptr {
	var id atomic.Int32
	var entered, leave atomic.Uint32
	t.Go(func() {
		until(t, "interrupts to be off", func() bool { return entered.Load() != 0 })
		cpu.SendIPI(int(id.Load()), vecHold)
		leave.Store(1)
	})
	return h.call(t, func() uint64 {
		id.Store(int32(cpu.ID())) // nothing from here on leads to the scheduler
		return deaf(&entered, &leave)
	})
}

// release lets the CPU continue and checks that it does what it was about to do.
func (h *hold) release(t *suites.T) {
	h.released.Store(true)
	until(t, "the call to return", h.returned.Load)
	if got := h.result.Load(); got != 1 {
		t.Errorf("the call that was held returned %d, want 1", got)
	}
}

// until is t.Until, but sleeps. A goroutine that only yields is queued before those
// that wait for the CPU that is held, and would keep them from running on another.
func until(t *suites.T, what string, done func() bool) {
	t.Until(what, func() bool { time.Sleep(100 * time.Microsecond); return done() })
}

// holding is a pre-handler that holds its CPU as soon as interrupts are on.
func holding(*kprobes.Kprobe, *amd64.Regs) int {
	cpu.SendIPI(cpu.ID(), vecHold)
	return 0
}

// nothing is a pre-handler that does nothing.
func nothing(*kprobes.Kprobe, *amd64.Regs) int { return 0 }

// drain takes all that is left of p, so that the next piece can only be one that was freed
// meanwhile. The function returned frees what it took.
func drain(p *text.Pool) (refill func()) {
	grace.Synchronize() // what was freed before is out of use
	var pieces []uintptr
	for piece, ok := p.Take(1); ok; piece, ok = p.Take(1) {
		pieces = append(pieces, piece)
	}
	return func() {
		since := grace.Now()
		for i := range pieces {
			p.Put(pieces[len(pieces)-1-i], &since, nil)
		}
		grace.Synchronize()
		p.Reap()
	}
}

// optimization sets the sysctl.
func optimization(t *suites.T, on string) { t.Must(sysctl.Set(sysctlName, on)) }

// clean checks that k has counted its hits and nothing is left of it.
func clean(t *suites.T, k *kprobes.Kprobe, hits uint64) {
	kprobes.UnregisterKprobe(k)
	if l := k.Ledger(); l.Handled != hits || l.Unexplained() != 0 {
		t.Errorf("%d of %d hits, %d unexplained", l.Handled, hits, l.Unexplained())
	}
	if n := suites.TextChanged(); n != 0 {
		t.Errorf("%d bytes of text are not as they were", n)
	}
}
