//go:build tamago

// Package irq calls handlers for device interrupts, and wakes goroutines from them.
package irq

import (
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/refusal"
)

// TickEvery makes this CPU take a timer interrupt at least every ns nanoseconds; 0:
// only when there is something to do.
//
// Context: interrupts off.
func TickEvery(ns int64) { goruntime.TickEvery(ns) }

// onTick are notified of every timer interrupt; nil until OnTick.
var onTick atomic.Pointer[[]func(r *amd64.Regs, late int64)]

// OnTick makes every timer interrupt call f, with the registers that it interrupted
// and the nanoseconds by which it is late. Nothing needs an f that returns: it may call handlers, which
// may be abandoned.
//
// Context: goroutine; f runs in interrupt context.
func OnTick(f func(r *amd64.Regs, late int64)) {
	all := []func(r *amd64.Regs, late int64){f}
	if old := onTick.Load(); old != nil {
		all = append(*old, f)
	}
	onTick.Store(&all)
}

// interrupted is notified of every interrupt of timer and wake-up; nil until OnInterrupt.
var interrupted atomic.Pointer[func(r *amd64.Regs)]

// OnInterrupt makes every timer interrupt and wake-up call f, with the registers that it
// interrupted. There is one such f.
//
// Context: goroutine; f runs in interrupt context.
func OnInterrupt(f func(r *amd64.Regs)) { interrupted.Store(&f) }

func tell(r *amd64.Regs) {
	if f := interrupted.Load(); f != nil {
		(*f)(r)
	}
}

// Install takes the interrupts that the scheduler lives on: timer, wake-up,
// and the spurious one.
//
// Context: boot, before the runtime.
func Install() {
	trap.SetInterrupt(amd64.VecTimer, timer)
	trap.SetInterrupt(amd64.VecWake, wake)
	trap.SetInterrupt(amd64.VecSpurious, spurious)
}

func timer(r *amd64.Regs) {
	cpu.EOI()
	late := goruntime.Tick()
	tell(r)
	if all := onTick.Load(); all != nil {
		for _, f := range *all {
			f(r, late)
		}
	}
}

// wake has nothing to do: the interrupt itself has ended Idle.
func wake(r *amd64.Regs) {
	cpu.EOI()
	tell(r)
}

// spurious sends no EOI: Intel SDM vol. 3A, "Spurious Interrupt".
func spurious(*amd64.Regs) {}

// lines are the handlers of the legacy interrupts.
var lines [16]struct {
	name string
	pin  int // of the I/O APIC
	f    atomic.Pointer[func()]
}

// Request routes legacy interrupt n to CPU 0 and makes it call f.
//
// Context: goroutine; f runs in interrupt context.
// Errors: EINVAL no such line or no IOAPIC for it, EBUSY it is taken.
func Request(m *acpi.MADT, n uint8, name string, f func()) error {
	if int(n) >= len(lines) {
		return refusal.New(syscall.EINVAL, "irq: request %d for %s: there are %d lines", n, name, len(lines))
	}
	if !lines[n].f.CompareAndSwap(nil, &f) {
		return refusal.New(syscall.EBUSY, "irq: request %d for %s: %s has it", n, name, lines[n].name)
	}
	lines[n].name = name
	trap.SetInterrupt(amd64.VecLegacy+n, legacy)
	gsi := m.GSI(n)
	io, ok := find(m, gsi)
	if !ok {
		lines[n].f.Store(nil)
		return refusal.New(syscall.EINVAL, "irq: request %d for %s: no IOAPIC serves it", n, name)
	}
	lines[n].pin = int(gsi - io.first)
	io.route(gsi-io.first, cpu.APIC(0), uint32(amd64.VecLegacy+n))
	return nil
}

// Line is a legacy interrupt that a device has requested.
type Line struct {
	N    uint8
	Pin  int // of the I/O APIC where it arrives
	Name string
}

// Lines returns what has been requested.
func Lines() (all []Line) {
	for n := range lines {
		if lines[n].f.Load() != nil {
			all = append(all, Line{uint8(n), lines[n].pin, lines[n].name})
		}
	}
	return all
}

// Describe returns the number and the name of an interrupt by its vector: of a device, its line, of others
// the vector.
//
// Context: any.
func Describe(vector uint64) (n int, name string) {
	switch {
	case vector == uint64(amd64.VecTimer):
		return int(vector), "timer"
	case vector == uint64(amd64.VecWake):
		return int(vector), "wake"
	}
	n = int(vector-uint64(amd64.VecLegacy)) & (len(lines) - 1)
	return n, lines[n].name
}

func legacy(r *amd64.Regs) {
	cpu.EOI()
	if f := lines[(r.Vector-amd64.VecLegacy)&15].f.Load(); f != nil {
		(*f)()
	}
}

// An Event lets an interrupt wake one goroutine. The zero Event is ready.
type Event struct {
	note goruntime.Note
}

// Wait blocks until Wake has been called since the last Wait, or ns nanoseconds
// have passed (ns < 0: no limit), and reports which. One goroutine waits on an
// Event at a time.
func (e *Event) Wait(ns int64) bool {
	woken := goruntime.SleepOn(&e.note, ns)
	if woken {
		goruntime.ClearNote(&e.note)
	}
	return woken
}

// Wake ends the Wait, or the next one.
//
// Context: any.
func (e *Event) Wake() { goruntime.Wake(&e.note) }
