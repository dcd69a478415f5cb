//go:build tamago

package returns

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("returns/interrupts_come_in_a_return_handler", interruptsCome)
	suites.Add("returns/interrupts_stay_off_in_a_return_handler", interruptsStayOff)
}

// interruptible reports whether interrupts are on here.
func interruptible() bool {
	flags := cpu.IRQOff()
	cpu.IRQRestore(flags)
	return flags&amd64.RFLAGS_IF != 0
}

// arrives sends this CPU an interrupt, and reports whether it comes within ns
// nanoseconds.
func arrives(ns int64) bool {
	id := cpu.ID()
	n := trap.Count(id, amd64.VecWake)
	cpu.SendIPI(id, amd64.VecWake)
	for end := cpu.Nanotime() + ns; cpu.Nanotime() < end; {
		if trap.Count(id, amd64.VecWake) != n {
			return true
		}
	}
	return trap.Count(id, amd64.VecWake) != n // the host may have run others meanwhile
}

//go:noinline
func loud(n uint64) uint64 { return n + 1 }

var before uint64

// quiet returns with interrupts off; before says how they were.
//
//go:noinline
func quiet(n uint64) uint64 { before = cpu.IRQOff(); return n + 1 }

func interruptsCome(t *suites.T) {
	const calls = 20
	var on1, came, on2 uint64
	rp := on(loud, func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
		on1 += one(interruptible())
		on2 += one(r.Flags&amd64.RFLAGS_IF != 0)
		came += one(arrives(100e6))
		return 0
	})
	remove := register(t, rp)
	for i := range uint64(calls) {
		suites.Equal(t, "loud", loud(i), i+1)
	}
	remove()
	suites.Equal(t, "handlers with interrupts on", on1, calls)
	suites.Equal(t, "handlers whose function had them on", on2, calls)
	suites.Equal(t, "handlers that an interrupt came in", came, calls)
}

func interruptsStayOff(t *suites.T) {
	const calls = 20
	var on1, came, on2 uint64
	rp := on(quiet, func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
		on1 += one(interruptible())
		on2 += one(r.Flags&amd64.RFLAGS_IF != 0)
		came += one(arrives(1e6))
		return 0
	})
	remove := register(t, rp)
	for i := range uint64(calls) {
		n := quiet(i)
		off := cpu.IRQOff()&amd64.RFLAGS_IF == 0 // at once: to yield would turn them on
		cpu.IRQRestore(before)
		if n != i+1 || !off {
			t.Errorf("quiet(%d) is %d, interrupts off behind it: %v", i, n, off)
		}
	}
	remove()
	suites.Equal(t, "Handled", rp.Hits(), calls)
	suites.Equal(t, "handlers with interrupts on", on1, 0)
	suites.Equal(t, "handlers whose function had them on", on2, 0)
	suites.Equal(t, "handlers that an interrupt came in", came, 0)
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
