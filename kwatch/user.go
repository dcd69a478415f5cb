//go:build !nolinux

package kwatch

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/attach"
	"sonde/kernel/handler"
	"sonde/kernel/probe"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// Watchpoints in the memory of programs.
//
// A #DB in ring 3 is an event like any other: the program's thread has left ring 3 when its
// goroutine handles it. So handlers are ordinary Go code: they may allocate, lock and wait,
// and read all of the program's memory. The debug registers know addresses, not processes:
// hits by other processes at the same address are ignored.
//
// Writes by the kernel for the program, in a system call, use another address of the same
// memory and are not seen. The next hit shows them as part of its change.
//
// Rejected: calling the handler in trap context, as for the kernel's data (the registers
// are not in one place until package user has left ring 3, and the page may not be in
// memory).

// A UserHandler is called at each hit, by thread t. Changes to t's registers take effect.
//
// Context: t's goroutine.
type UserHandler func(h *Hit, t *proc.Thread)

// user is the additional state of a watchpoint in a program's memory.
type user struct {
	process *proc.Process
	handler UserHandler
	engine  proc.Engine
	over    chan struct{} // closed when the watchpoint is unregistered

	mu sync.Mutex // one hit at a time, so that old and new are in sequence
	// guarded by mu:
	ended bool // the watchpoint is unregistered
}

// RegisterKwatchUser is RegisterKwatch for what the threads of process p do at addr. The
// handler is not called any more once p has ended or executes another program.
//
// Errors: those of RegisterKwatch; EFAULT p has nothing mapped there; ESRCH p has ended.
func RegisterKwatchUser(p *proc.Process, addr uintptr, length int, typ Type, handler UserHandler) (debugReg int, err error) {
	if p == nil {
		return 0, probe.Refuse(syscall.ESRCH, "kwatch: there is no process, the pointer is nil")
	}
	w := userPoint(p, addr, length, typ, handler)
	if err := mapped(p, w); err != nil {
		return 0, err
	}
	return register(w)
}

func userPoint(p *proc.Process, addr uintptr, length int, typ Type, handler UserHandler) *point {
	return &point{addr: addr, length: length, typ: typ, user: &user{process: p, handler: handler, over: make(chan struct{})}}
}

// mapped returns why w's memory cannot be watched.
//
// Errors: those of check; ESRCH, EFAULT.
func mapped(p *proc.Process, w *point) error {
	if err := w.check(); err != nil {
		return err
	}
	mem := p.Memory()
	if mem == nil {
		return probe.Refuse(syscall.ESRCH, "kwatch: %s: the process has ended", w.what())
	}
	if _, ok := mem.At(uint64(w.addr)); !ok {
		return probe.Refuse(syscall.EFAULT, "kwatch: %s: nothing is mapped there", w.what())
	}
	return nil
}

func (u *user) attached(p *point) {
	u.engine.Exec = func(*proc.Thread) { p.end() }
	u.process.Attach(&u.engine)
	go func() {
		select {
		case <-u.process.Done():
			p.end()
		case <-u.over:
		}
	}()
}

// InitPrograms lets links watch the memory of these processes.
//
// Context: boot, goroutine.
func InitPrograms(table *proc.Table) {
	ofProcess = func(at *attach.Place, addr uintptr, length int) (*point, error) {
		p, err := table.Find(at.Site.PID)
		if err != nil {
			return nil, probe.Refuse(syscall.ESRCH, "kwatch: there is no process %d", at.Site.PID)
		}
		w := userPoint(p, addr, length, at.Site.Access, func(h *Hit, t *proc.Thread) {
			if f := at.Link.Handler; f != nil {
				f(&attach.Hit{Regs: t.Regs(), Place: at, IP: uint64(h.IP), MayBlock: true, Old: h.Old, New: h.New})
			}
		})
		w.place = at
		return w, mapped(p, w)
	}
}

// userOf returns what p has of a program's; nil: it is in the kernel's memory.
func (p *point) userOf() *user {
	u, _ := p.user.(*user)
	return u
}

func (u *user) pid() int { return u.process.PID }

func (u *user) handled() bool { return u.handler != nil }

func (u *user) shares(other program) bool { return u.process == other.(*user).process }

// end stops watching, because the address now belongs to another program or to none.
func (p *point) end() {
	mu.Lock()
	defer mu.Unlock()
	p.gone.Store(true) // a handler that broke the rules may have set it already
	load(wanted())
}

func (u *user) detached() {
	close(u.over)
	u.process.Detach(&u.engine)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
}

func (u *user) read(p *point) (v uint64, ok bool) {
	var b [8]byte
	mem := u.process.Memory()
	if mem == nil || mem.Peek(b[:p.length], uint64(p.addr)) < p.length {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

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

// dataOf yields the data watchpoints of process, with their numbers.
func dataOf(process *proc.Process) iter.Seq2[int, *point] {
	return func(yield func(int, *point) bool) {
		for n := range points {
			q := points[n].Load()
			if q != nil && q.user != nil && q.userOf().process == process && q.typ != Execute && !yield(n, q) {
				return
			}
		}
	}
}

// executes reports whether the execution of what is at addr in process is watched. If another process
// watches that, too, both watchpoints are reported; if this one's is not, the other's has come after the
// hit, in the place of one on data, and the instruction has yet to be told of.
func executes(process *proc.Process, addr uintptr) bool {
	for n := range points {
		q := points[n].Load()
		if q != nil && q.user != nil && q.userOf().process == process && q.typ == Execute && q.addr == addr {
			return true
		}
	}
	return false
}

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
	u.mu.Lock()
	defer u.mu.Unlock()
	r := t.Regs()
	resume(p, r)
	if u.ended {
		return 0
	}
	p.accounts.CountNested(0, probe.Entered)
	if p.gone.Load() {
		p.accounts.CountNested(0, probe.Disarmed)
		return 0
	}
	h := &Hit{DebugReg: n, Type: p.typ, Addr: p.addr, IP: uintptr(r.IP), TID: t.TID}
	if p.typ != Execute {
		h.New, _ = u.read(p)
		h.Old = atomic.SwapUint64(&p.last, h.New)
		var is bool
		if also, is = u.touched(p, done, h, r); !is || p.typ == Read && h.Old != h.New {
			p.accounts.CountNested(0, probe.Declined)
			return also
		}
	}
	defer p.abandoned()
	u.handler(h, t)
	p.accounts.CountNested(0, probe.Handled)
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

// abandoned handles a panic in a handler.
func (p *point) abandoned() {
	if e := recover(); e != nil {
		p.accounts.CountNested(0, probe.Abandoned)
		p.gone.Store(true)
		handler.Panicked("kwatch", p.what(), e)
	}
}
