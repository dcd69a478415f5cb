//go:build tamago

package kwatch

// Trap context. What a hit does. It does not change X0-X14: reach.HitKeepsSSE checks that.

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
	"sonde/kernel/smp"
	"sonde/kernel/stack"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// state is one CPU's. Interrupts are off in a hit, so nothing changes the state except
// nested hits, which restore it.
type state struct {
	handler.State        // Frame is 0 outside of hits
	reading       bool   // this package reads what is watched
	nmi           bool   // the hit is in an NMI
	reg           int    // index of the watchpoint being handled
	left          uint64 // watchpoints of the same #DB still to be handled
	done          uint64 // those that have been handled
	stepped       bool   // the #DB was also the end of a single step
	hit           Hit
}

// states is spaced so that no two CPUs write to one cache line.
var states [trap.MaxCPUs]struct {
	state
	_ [192 - unsafe.Sizeof(state{})]byte
}

// onHit is this package's trap.Watcher.
//
// A hit inside another hit's handler counts as missed. Its frame is further down the stack.
// A frame that is not above r belongs to a hit that was abandoned along with the probe
// handler that it had interrupted.
func onHit(r *amd64.Regs, which uint64, stepped bool) {
	st := &states[trap.ID(r)].state
	at := uintptr(unsafe.Pointer(r))
	nmi := trap.InNMI(trap.ID(r))
	if st.Frame != 0 && at < st.Frame {
		if !st.reading || nmi != st.nmi {
			miss(r, which)
		}
		return
	}
	st.Frame, st.nmi, st.left, st.done, st.stepped = at, nmi, which, 0, stepped
	if smp.Stopped() { // the handler's code may be half changed
		miss(r, which)
		st.Frame = 0
		return
	}
	st.goOn(r)
}

// goOn handles the watchpoints that are left.
func (st *state) goOn(r *amd64.Regs) {
	for st.left != 0 {
		which := st.left
		rest := which & (which - 1) // without the lowest bit, which costs less than a shift
		st.reg = bits.TrailingZeros64(which)
		st.left = rest
		st.done |= which ^ rest
		if p := points[st.reg].Load(); p != nil {
			if also := atomic.LoadUint64(&p.also); also != 0 {
				st.find(p, also, r)
			}
			st.take(p, r)
			resume(p, r)
		}
	}
	st.Frame = 0
}

// take handles a hit of p.
func (st *state) take(p *point, r *amd64.Regs) {
	id := trap.ID(r)
	if p.user != nil {
		return // the kernel uses other addresses: it is a bit that QEMU has kept (trap.SetDoubles)
	}
	p.accounts.Count(id, ledger.Entered)
	if p.gone.Load() {
		p.accounts.Count(id, ledger.Disarmed)
		return
	}
	h := &st.hit
	h.DebugReg, h.Type, h.Addr, h.IP = st.reg, p.typ, p.addr, p.addr // a whole Hit would be copied by X14
	h.Old, h.New, h.CPU, h.Goid = 0, 0, id, goruntime.Goid(trap.G(r))
	if p.typ != Execute {
		h.IP = stack.OriginalIP(r)
		st.reading = true
		h.New = read(p.addr, p.length)
		st.reading = false
		h.Old = atomic.SwapUint64(&p.last, h.New)
		if h.Old != h.New {
			if p.typ == Read {
				p.accounts.Count(id, ledger.Declined)
				return
			}
		} else if r.Flags&amd64.RFLAGS_IF == 0 && emulated {
			if p.notWritten(r) { // apart: in one condition, each hit would go through its result
				p.accounts.Count(id, ledger.Declined)
				return
			}
		}
	}
	st.Begin(uintptr(unsafe.Pointer(p)))
	if p.careful {
		p.callCareful(h, r)
	} else {
		p.handler(h, r)
	}
	st.End()
	p.accounts.Count(id, ledger.Handled)
}

// callCareful calls p's handler if that may change X0-X14, IP or SP. A crash names the last handler
// that has moved one of the latter.
func (p *point) callCareful(h *Hit, r *amd64.Regs) {
	trap.SaveXMM(r)
	ip, sp := r.IP, r.SP
	p.handler(h, r)
	if r.IP != ip || r.SP != sp {
		handlerMoved(p.addr, p.code, p.owner, r, ip, sp)
	}
}

// find adds to those left the watchpoints of also that are hit together with p. It saves
// X0-X14 first, as rules.go of kprobes/reach requires.
//
//go:noinline
func (st *state) find(p *point, also uint64, r *amd64.Regs) {
	st.left |= also & (1<<beside - 1) &^ st.done
	rest := also >> beside &^ (st.done | st.left)
	if rest == 0 || p.user != nil {
		return
	}
	trap.SaveXMM(r)
	var a around
	a.read(r)
	st.reading = true
	now := read(p.addr, p.length)
	st.reading = false
	st.left |= p.besides(rest, atomic.LoadUint64(&p.last), now, &a, r)
}

// notWritten reports whether the instruction before r.IP has written nothing that p watches, although
// the emulator says so.
//
//go:noinline
func (p *point) notWritten(r *amd64.Regs) bool {
	if p.typ != Write {
		return false
	}
	trap.SaveXMM(r)
	var a around
	a.read(r)
	return a.lockedElsewhere(p, r)
}

// read reads the code of the kernel around r.IP.
func (a *around) read(r *amd64.Regs) {
	from := uintptr(r.IP) - codeBefore
	// Safe because: there is code around each instruction of the kernel, or a slot.
	a.code = **(**[codeBefore + codeBehind]byte)(unsafe.Pointer(&from))
}

// miss counts hits for which no handler is called.
func miss(r *amd64.Regs, which uint64) {
	for ; which != 0; which &= which - 1 {
		if p := points[bits.TrailingZeros64(which)].Load(); p != nil {
			p.accounts.CountNested(trap.ID(r), ledger.Missed)
			resume(p, r)
		}
	}
}

// read returns the length bytes at addr.
func read(addr uintptr, length int) uint64 {
	// Safe because: it is mapped for good, or referred to; refuse has checked that.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	switch length {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(atomic.LoadUint32((*uint32)(p)))
	}
	return atomic.LoadUint64((*uint64)(p))
}
