package uprobes

// Trap context. What a CPU does for a hit of a program, and what it knows of it.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// state is one CPU's. Interrupts are off in a hit, so nothing else changes it. What it points to is
// kept by others for as long as the hit lasts: see docs/decisions.md.
type state struct {
	handler.State // Probe is the member whose handler runs
	doing         doing
	at            int32   // index of the next instance of call
	list          uintptr // the **member that is the first of the point
	next          uintptr // the one that comes next
	thread        uintptr // the *thread that was hit
	point         uintptr // the *point, unless a call returns to the trampoline
	call          uintptr // the *call that has returned
	// in is a *UretprobeInstance for returns of Go functions, which have no call.
	in struct {
		ret  uint64
		rp   uintptr
		data [3]uintptr
	}
}

// doing is which handlers a hit calls.
type doing uint8

const (
	callsHits      doing = iota // those of the point
	callsEntries                // the entry handlers of a call
	callsReturns                // those of a call
	callsGoReturns              // those of a return instruction of Go's
	callsGoExits                // those of a call of a goroutine
)

// states is spaced so that no two CPUs write to one cache line.
var states [trap.MaxCPUs]struct {
	state
	_ [128 - unsafe.Sizeof(state{})]byte
}

// asThread, asPoint and asMember turn a kept address back. Safe because: see state.
func asThread(p uintptr) *thread { return *(**thread)(unsafe.Pointer(&p)) }
func asPoint(p uintptr) *point   { return *(**point)(unsafe.Pointer(&p)) }
func asMember(p uintptr) *member { return *(**member)(unsafe.Pointer(&p)) }
func asCall(p uintptr) *call     { return *(**call)(unsafe.Pointer(&p)) }

// keep stores p without a write barrier. Safe because: see docs/decisions.md.
func keep[T any](at **T, p *T) { *(*uintptr)(unsafe.Pointer(at)) = uintptr(unsafe.Pointer(p)) }

// keepSlice is keep for a slice.
func keepSlice[T any](at *[]T, p []T) {
	*(*[3]uintptr)(unsafe.Pointer(at)) = *(*[3]uintptr)(unsafe.Pointer(&p))
}

// begin notes that a handler of m starts, and keeps the program's X0-X14 if it may change them.
func (st *state) begin(m *member, r *amd64.Regs) {
	if m.careful {
		mach.SaveVectors(r)
	}
	st.Begin(uintptr(unsafe.Pointer(m)))
}

// nextMember returns the next probe of the list that a hit goes through, or nil at the end.
func (st *state) nextMember() *member {
	m := **(***member)(unsafe.Pointer(&st.next)) // Safe because: a hit's list is kept until it is over
	st.next += unsafe.Sizeof(m)
	return m
}

// handlingHere returns the thread whose handler this CPU runs in trap context, or nil.
func handlingHere() *thread {
	if st := &states[mach.CPU()].state; st.Probe != 0 {
		return asThread(st.thread)
	}
	return nil
}

// onAbandoned goes on with a hit whose handler has been abandoned: it implements user.Hit.
func onAbandoned(r *amd64.Regs, _ uintptr, id int) (done bool) {
	st := &states[id].state
	m := asMember(st.Probe)
	m.Count(ledger.Abandoned)
	if st.doing != callsHits && st.doing != callsGoReturns {
		m.Flying.Add(-1)
	}
	st.End()
	switch st.doing {
	case callsEntries:
		return st.callEntries(r)
	case callsReturns:
		return st.callReturns(r)
	case callsGoReturns:
		return st.callGoReturns(r)
	case callsGoExits:
		return st.callGoExits(r)
	}
	return st.callHandlers(r)
}
