//go:build tamago

package irq

import (
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/acpi"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/printk"
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

// lines are devices' interrupts: the legacy ones, and after them those by messages.
var lines [2 * legacyLines]atomic.Pointer[Line]

const legacyLines = 16

// Line is an interrupt that a device has requested.
type Line struct {
	N       uint8
	Message bool // it is sent, and has no pin
	Level   bool // not edges count
	Pin     int  // of the I/O APIC where it arrives
	Name    string
	call    func()
}

// Request routes legacy interrupt n to CPU 0 and makes each edge of it call f.
//
// Context: goroutine; f runs in interrupt context.
// Errors: EINVAL no such line or no IOAPIC for it, EBUSY it is taken.
func Request(m *acpi.MADT, n uint8, name string, f func()) error {
	return request(m, &Line{N: n, Name: name, call: f}, func(ioapic) {})
}

// RequestLevel is Request for the pin of a PCI device, which is low until f has seen to the device; f says whether that
// asked, and may be called once more after that. A line that another device holds low, for which there is no driver, is
// masked.
func RequestLevel(m *acpi.MADT, n uint8, name string, f func() bool) error {
	l := &Line{N: n, Name: name, Level: true}
	return request(m, l, func(io ioapic) {
		seen := alone{mask: func() {
			io.route(uint32(l.Pin), cpu.APIC(0), masked)
			printk.Warn("irq %d: another device than that of %s asks, again and again: masked", n, name)
		}}
		l.call = func() { seen.count(f()) }
	})
}

// RequestMessage makes a vector that a device can send to CPU 0 call f.
//
// Context: goroutine; f runs in interrupt context.
// Errors: EBUSY all vectors are taken.
func RequestMessage(name string, f func()) (vector uint8, err error) {
	for n := uint8(legacyLines); int(n) < len(lines); n++ {
		if lines[n].CompareAndSwap(nil, &Line{N: n, Message: true, Name: name, call: f}) {
			vector = amd64.VecLegacy + n
			trap.SetInterrupt(vector, device)
			return vector, nil
		}
	}
	return 0, refusal.New(syscall.EBUSY, "irq: request a message for %s: all %d are taken", name, len(lines)-legacyLines)
}

// request routes l's pin. arrives is called before it can arrive.
func request(m *acpi.MADT, l *Line, arrives func(ioapic)) error {
	if l.N >= legacyLines {
		return refusal.New(syscall.EINVAL, "irq: request %d for %s: there are %d lines", l.N, l.Name, legacyLines)
	}
	gsi := m.GSI(l.N)
	io, ok := find(m, gsi)
	if !ok {
		return refusal.New(syscall.EINVAL, "irq: request %d for %s: no IOAPIC serves it", l.N, l.Name)
	}
	l.Pin = int(gsi - io.first)
	arrives(io)
	if !lines[l.N].CompareAndSwap(nil, l) {
		return refusal.New(syscall.EBUSY, "irq: request %d for %s: %s has it", l.N, l.Name, lines[l.N].Load().Name)
	}
	vector := amd64.VecLegacy + l.N
	trap.SetInterrupt(vector, device)
	how := uint32(vector)
	if l.Level {
		how |= activeLow | byLevel
	}
	io.route(uint32(l.Pin), cpu.APIC(0), how)
	return nil
}

// Lines returns what has been requested.
func Lines() (all []Line) {
	for n := range lines {
		if l := lines[n].Load(); l != nil {
			all = append(all, *l)
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
	if l := lines[n].Load(); l != nil {
		name = l.Name
	}
	return n, name
}

func device(r *amd64.Regs) {
	cpu.EOI()
	if l := lines[(r.Vector-amd64.VecLegacy)&(2*legacyLines-1)].Load(); l != nil {
		l.call()
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
