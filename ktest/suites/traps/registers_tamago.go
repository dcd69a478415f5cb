//go:build tamago

// Package traps tests that a trap changes nothing in the code it interrupts except what its
// handler changes.
package traps

import (
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/text"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("traps/int3_of_nobody_changes_nothing", int3ChangesNothing)
	suites.Add("traps/handlers_may_use_every_register", handlersMayUseEveryRegister)
	suites.Add("traps/handlers_change_registers", handlersChangeRegisters)
	suites.Add("traps/interrupts_change_nothing", interruptsChangeNothing)
	suites.Add("traps/nested_traps_return_in_order", nestedTraps)
	suites.Add("traps/every_cpu_takes_interrupts", everyCPUTakesInterrupts)
}

// untouched is what a State looks like when nothing was done to it.
func untouched(t *suites.T) *targets.Result {
	for _, s := range targets.Shapes() {
		if s.Name == "ret" {
			r, err := s.Run()
			t.Must(err)
			return &r[0]
		}
	}
	t.Fatalf("there is no shape that only returns")
	return nil
}

// same runs s and checks that it has changed nothing.
func same(t *suites.T, s *targets.Shape) {
	r, err := s.Run()
	t.Must(err)
	if d := r[0].Diff(untouched(t)); d != "" {
		t.Fatalf("%s changed %s", s.Name, d)
	}
}

// arrived returns how often vector v arrived on all CPUs.
func arrived(v uint8) (n uint64) {
	for id := range cpu.Num() {
		n += trap.Count(id, v)
	}
	return n
}

func int3ChangesNothing(t *suites.T) {
	before := arrived(amd64.VEC_BP)
	same(t, &targets.Int3)
	if n := arrived(amd64.VEC_BP) - before; n != 1 {
		t.Errorf("%d breakpoints were counted, want 1", n)
	}
}

func handlersMayUseEveryRegister(t *suites.T) {
	var calls atomic.Uint32
	trap.SetHandler(0x90, func(*amd64.Regs) { targets.Clobber(); calls.Add(1) })
	for range 1000 {
		same(t, &targets.Int90)
	}
	if calls.Load() != 1000 {
		t.Errorf("%d calls of the handler, want 1000", calls.Load())
	}
}

func handlersChangeRegisters(t *suites.T) {
	trap.SetHandler(0x90, func(r *amd64.Regs) {
		r.AX += 5
		r.R15 = 0x55
		r.Flags |= amd64.RFLAGS_CF
		trap.XMM(r)[15][3] = 0xee
	})
	got, _ := targets.Int90.Run()
	want := *untouched(t)
	want.AX += 5
	want.R15 = 0x55
	want.Flags |= amd64.RFLAGS_CF
	want.X15[0] = want.X15[0]&^(0xff<<24) | 0xee<<24
	if d := got[0].Diff(&want); d != "" {
		t.Errorf("%s", d)
	}
}

// interruptsChangeNothing makes code spin with every register in use while
// interrupts of all kinds arrive.
func interruptsChangeNothing(t *suites.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	t.Go(func() {
		for !stop.Load() {
			time.Sleep(100 * time.Microsecond)
			text.Sync()
		}
	})
	before := arrived(amd64.VecTimer) + arrived(amd64.VecCall)
	var want []targets.Result
	for n := 0; n < 300 || arrived(amd64.VecTimer)+arrived(amd64.VecCall)-before < 50; n++ {
		got, err := targets.Spin.Run()
		t.Must(err)
		if want == nil {
			want = got
		}
		if d := got[0].Diff(&want[0]); d != "" {
			t.Errorf("%s", d)
		}
	}
	stop.Store(true)
	t.Wait()
}

const depth = 6

// nestedTraps makes a handler trap on its own vector, several times over, and
// checks that every frame is as it was when the inner one returns.
func nestedTraps(t *suites.T) {
	var level, wrong atomic.Int32
	var trail [depth]uint64
	trap.SetHandler(0x90, func(r *amd64.Regs) {
		n := level.Load()
		before, xmm := *r, *trap.XMM(r)
		trail[n] = r.SP
		if level.Add(1) < depth {
			targets.RaiseInt90()
		}
		if *r != before || *trap.XMM(r) != xmm {
			wrong.Add(1)
		}
		targets.Clobber()
	})
	for range 100 {
		level.Store(0)
		same(t, &targets.Int90)
	}
	if wrong.Load() != 0 {
		t.Errorf("%d frames were overwritten by inner traps", wrong.Load())
	}
	for i := 2; i < depth; i++ {
		if trail[i] >= trail[i-1] {
			t.Errorf("the frame of level %d is at %#x, that of level %d at %#x", i, trail[i], i-1, trail[i-1])
		}
	}
}

func everyCPUTakesInterrupts(t *suites.T) {
	for _, v := range []struct {
		vector uint8
		name   string
		skip   bool
	}{
		{amd64.VecTimer, "timer", false},
		{amd64.VecCall, "call", cpu.Num() == 1},
		{amd64.VecWake, "wake-up", cpu.Num() == 1},
	} {
		var before [trap.MaxCPUs]uint64
		for id := range cpu.Num() {
			before[id] = trap.Count(id, v.vector)
		}
		t.Until(v.name+" interrupts on every CPU", func() bool {
			t.Together(func(int) { time.Sleep(time.Millisecond) })
			text.Sync()
			for id := range cpu.Num() {
				if trap.Count(id, v.vector) == before[id] && !v.skip {
					return false
				}
			}
			return true
		})
	}
}
