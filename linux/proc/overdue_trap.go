//go:build tamago

package proc

// Trap context: called from interrupts.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
)

// Nothing in the kernel is preempted, so a handler that loops without calling anything
// would keep its CPU for ever, and the garbage collector would wait for it. It is made to
// panic when it has been asked to yield this often, and for this long.
const (
	askedLong  = patience
	askedOften = 50
)

// Overdue is called at an interrupt, with the interrupted registers.
//
// Context: interrupt.
func Overdue(r *amd64.Regs) {
	g := trap.G(r)
	t := (*Thread)(goruntime.Thread(g))
	if t == nil || t.lent.Load() == notLent {
		return
	}
	number, asked := goruntime.Turn(g)
	if !asked || number != t.turn.number {
		t.turn = turn{number: number, since: cpu.Rdtsc()}
		return
	}
	if t.turn.asked++; t.turn.asked < askedOften || cpu.Duration(cpu.Rdtsc()-t.turn.since) < askedLong {
		return
	}
	if pc, sp := uintptr(r.IP), uintptr(r.SP); goruntime.Expel(g, &pc, &sp) {
		r.IP, r.SP, t.turn.asked = uint64(pc), uint64(sp), 0
	}
}
