//go:build !nolinux

package kwatch

// What a hit of a program does, in its thread's goroutine.

import (
	"iter"
	"math/bits"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/printk"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// OfThread handles a #DB of a program, with the value of DR6. It returns true if
// watchpoints were the only cause, this process's or another's; if false, the program must
// get the #DB as well.
//
// Context: t's goroutine.
func OfThread(t *proc.Thread, dr6 uint64) (only bool) {
	which := debugreg.Hits(dr6, 1<<debugreg.Num-1)
	if which == 0 {
		return false
	}
	for left, done := which, uint64(0); left != 0; left &^= done {
		n := bits.TrailingZeros64(left)
		done |= 1 << n
		switch p := points[n].Load(); {
		case p == nil || p.user == nil: // a program cannot reach what the kernel watches: that came later
			left |= changed(t.Process())
		case p.userOf().process == t.Process():
			left |= p.takeUser(n, done, t)
		default:
			if !executes(t.Process(), uintptr(t.Regs().IP)) {
				resume(p, t.Regs())
			}
			left |= changed(t.Process()) | p.impliedOf(t.Process())
		}
	}
	return dr6&debugreg.DR6_BS == 0
}

// dataOf yields the data watchpoints of process that are watched for, with their numbers.
func dataOf(process *proc.Process) iter.Seq2[int, *point] {
	return func(yield func(int, *point) bool) {
		for n := range points {
			q := points[n].Load()
			if q != nil && q.watches(process) && q.typ != Execute && !yield(n, q) {
				return
			}
		}
	}
}

// executes reports whether the execution of what is at addr in process is watched. If another process
// watches that, too, both watchpoints are reported; if this one's is not, the other's has come after the
// hit, in the place of one on data, and the instruction has yet to be reported.
func executes(process *proc.Process, addr uintptr) bool {
	for n := range points {
		q := points[n].Load()
		if q != nil && q.watches(process) && q.typ == Execute && q.addr == addr {
			return true
		}
	}
	return false
}

// watches reports whether what p watches is in process, and it is watched for.
func (p *point) watches(process *proc.Process) bool {
	return p.user != nil && p.userOf().process == process && !p.off()
}

// off reports whether p's handler is not to be called: no CPU watches for p, or none will soon.
func (p *point) off() bool { return p.disabled.Load() || p.gone.Load() }

// changed returns the watchpoints of process whose memory has changed. They are asked for where what
// is reported is another process's watchpoint, or was: it may have been unregistered meanwhile. At one
// address, QEMU reports the first only.
func changed(process *proc.Process) (which uint64) {
	for n, q := range dataOf(process) {
		if v, ok := q.user.read(q); ok && v != atomic.LoadUint64(&q.last) {
			which |= 1 << n
		}
	}
	return which
}

// impliedOf returns the watchpoints of process that are hit whenever p is.
func (p *point) impliedOf(process *proc.Process) (which uint64) {
	for n, q := range dataOf(process) {
		if p.implies(q) {
			which |= 1 << n
		}
	}
	return which
}

// takeUser handles a hit of p, and returns the watchpoints hit together with it, except
// done. It counts on a CPU number of its own, because the goroutine may move.
func (p *point) takeUser(n int, done uint64, t *proc.Thread) (also uint64) {
	u := p.userOf()
	r := t.Regs()
	resume(p, r)
	if !u.enter(t) {
		return 0
	}
	p.accounts.CountNested(0, ledger.Entered)
	if p.off() {
		p.accounts.CountNested(0, ledger.Disarmed)
		u.leave()
		return 0
	}
	h := &Hit{DebugReg: n, Type: p.typ, Addr: p.addr, IP: uintptr(r.IP), TID: t.TID}
	if p.typ != Execute {
		h.New, _ = u.read(p)
		h.Old = atomic.SwapUint64(&p.last, h.New)
		var is bool
		if also, is = u.touched(p, done, h, r); !is || p.typ == Read && h.Old != h.New {
			p.accounts.CountNested(0, ledger.Declined)
			u.leave()
			return also
		}
	}
	t.RunHandler(func() { u.handler(h, t) }, func(returned bool, e any) {
		if returned {
			p.accounts.CountNested(0, ledger.Handled)
			u.leave()
			return
		}
		p.abandoned()
		handler.Panicked("kwatch", p.what(), e)
		u.leave()
		unload()
	})
	return also
}

// touched returns the watchpoints hit together with p, except done, and whether p itself is
// hit.
func (u *user) touched(p *point, done uint64, h *Hit, r *amd64.Regs) (which uint64, is bool) {
	also := atomic.LoadUint64(&p.also)
	which = also & (1<<beside - 1) &^ done
	rest := also >> beside &^ (done | which)
	mem := u.process.Memory()
	if mem == nil || rest == 0 && (h.Old != h.New || !emulated) {
		return which, true
	}
	var a around
	if mem.Peek(a.code[:], r.IP-codeBefore) < codeBefore { // the page before it is not in memory
		a.skip = max(0, codeBefore-int(r.IP%space.PageSize))
		mem.Peek(a.code[a.skip:], r.IP-codeBefore+uint64(a.skip))
	}
	which |= p.besides(rest, h.Old, h.New, &a, r)
	if h.Old != h.New || !emulated {
		return which, true
	}
	at, is := a.above(p, r)
	for n := range points {
		if q := points[n].Load(); is && rest>>n&1 != 0 && q != nil && q.overlaps(at, 8) {
			which |= 1 << n
		}
	}
	return which, !is
}

// abandoned says that a handler of p has not returned: it is called no more.
func (p *point) abandoned() {
	p.accounts.CountNested(0, ledger.Abandoned)
	p.gone.Store(true)
}

// leftBehind is called when a thread ends: perhaps without its goroutine, which a handler keeps.
func (p *point) leftBehind(t *proc.Thread) {
	u := p.userOf()
	u.mu.Lock()
	defer u.mu.Unlock()
	if t.LeftBehind() && u.busy == t {
		p.abandoned()
		printk.Err("kwatch: the handler of %s does not return: thread %d ends without it", p.what(), t.TID)
		u.pass()
	}
}
