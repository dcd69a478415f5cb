//go:build tamago

package tick

// Trap context. What the timer's interrupt does for tickers.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/probe/attach"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// tickers are those that tick. Interrupts read the list.
var tickers ledger.List[ticker]

// state is one CPU's. Interrupts are off while it is in use.
type state struct {
	handler.State
	next uintptr // the **ticker that comes next
	now  int64   // when the interrupt began
}

// states is spaced so that no two CPUs write to one cache line.
var states [trap.MaxCPUs]struct {
	state
	_ [128 - unsafe.Sizeof(state{})]byte
}

// handlers is this kind of handlers.
var handlers = handler.Kind{Blame: blame, Onward: afterAbandon}

// onTimer is called at each timer interrupt.
func onTimer(r *amd64.Regs, _ int64) {
	first := tickers.First()
	if first == nil {
		return
	}
	st := &states[trap.ID(r)].state
	st.Frame, st.next, st.now = uintptr(unsafe.Pointer(r)), uintptr(unsafe.Pointer(first)), cpu.Nanotime()
	st.goOn(r)
}

// goOn handles the tickers that are left.
func (st *state) goOn(r *amd64.Regs) {
	id := trap.ID(r)
	for {
		t := **(***ticker)(unsafe.Pointer(&st.next)) // Safe because: the list is kept until no CPU is here
		if t == nil {
			break
		}
		st.next += unsafe.Sizeof(t)
		if t.isDue(id, st.now) {
			st.hit(t, id, r)
		}
	}
	st.Frame = 0
}

// isDue reports whether t ticks on a CPU now, and notes when it does so next.
func (t *ticker) isDue(id int, now int64) bool {
	d := &t.due[id]
	if id != 0 && !t.all || now < d.at {
		return false
	}
	if d.at += t.period; d.at < now {
		d.at = now + t.period
	}
	return true
}

func (st *state) hit(t *ticker, id int, r *amd64.Regs) {
	n := t.accounts.On(id)
	n[ledger.Entered]++
	if t.flags.Has(disabled | abandoned) {
		n[ledger.Disarmed]++
		return
	}
	st.Begin(uintptr(unsafe.Pointer(t)))
	h := attach.Hit{Regs: r, Place: t.place, IP: r.IP}
	h.Call(t.handler)
	st.End()
	n[ledger.Handled]++
}

// blame is handler.Kind's Blame. Safe because: see goOn.
func blame(at uintptr) (h die.Handler, first bool) {
	t := *(**ticker)(unsafe.Pointer(&at))
	h = die.Handler{Owner: "tick", Kind: t.place.Where, At: t.code, Noun: "timer"}
	h.Code[0] = t.code
	return h, t.flags.Set(abandoned)
}

// afterAbandon continues the interrupt whose handler was abandoned.
func afterAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	st := &states[id].state
	at := st.Probe
	st.End()
	(*(**ticker)(unsafe.Pointer(&at))).accounts.CountNested(id, ledger.Abandoned)
	st.goOn(r)
	trap.EndInterrupt()
}
