//go:build !nolinux

package kwatch

import (
	"encoding/binary"
	"sync"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/probe/attach"
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
	memory  *proc.Memory // of the program that the address is of
	handler UserHandler
	engine  proc.Engine
	over    chan struct{} // closed when the watchpoint is unregistered
	left    func()        // called when process has ended or executes another program; nil: the watchpoint stays, and watches nothing

	mu   sync.Mutex
	free sync.Cond // busy is nil; with mu
	// guarded by mu:
	busy  *proc.Thread // whose hit is handled: one at a time, so that old and new are in sequence
	ended bool         // the watchpoint is unregistered
}

// enter waits until no other hit is handled, and reports whether t's may be; leave must follow then.
func (u *user) enter(t *proc.Thread) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.await()
	if !u.ended {
		u.busy = t
	}
	return !u.ended
}

// await waits until no hit is handled. mu held.
func (u *user) await() {
	for u.busy != nil {
		u.free.Wait()
	}
}

// leave says that the hit is handled no more.
func (u *user) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pass()
}

// pass lets the next hit be handled. mu held.
func (u *user) pass() {
	u.busy = nil
	u.free.Broadcast()
}

// RegisterKwatchUser is RegisterKwatch for what the threads of process p do at addr. The
// handler is not called any more once p has ended or executes another program.
//
// Errors: those of RegisterKwatch; EFAULT p has nothing mapped there; ESRCH p has ended.
func RegisterKwatchUser(p *proc.Process, addr uintptr, length int, typ Type, handler UserHandler) (debugReg int, err error) {
	if p == nil {
		return 0, refusal.New(syscall.ESRCH, "kwatch: there is no process, the pointer is nil")
	}
	w := userPoint(p, addr, length, typ, handler)
	if err := there(p, w, false); err != nil {
		return 0, err
	}
	return register(w)
}

func userPoint(p *proc.Process, addr uintptr, length int, typ Type, handler UserHandler) *point {
	u := &user{process: p, handler: handler, over: make(chan struct{})}
	u.free.L = &u.mu
	return &point{addr: addr, length: length, typ: typ, user: u}
}

// there returns why w's memory cannot be watched, which may be mapped later: debug registers know linear addresses,
// not pages.
//
// Errors: those of check; ESRCH; EFAULT it is not mapped, and would have to be.
func there(p *proc.Process, w *point, later bool) error {
	if err := w.check(); err != nil {
		return err
	}
	mem := p.Memory()
	if mem == nil {
		return refusal.New(syscall.ESRCH, "kwatch: %s: the process has ended", w.what())
	}
	w.userOf().memory = mem
	if _, ok := mem.At(uint64(w.addr)); !ok && !later {
		return refusal.New(syscall.EFAULT, "kwatch: %s: nothing is mapped there", w.what())
	}
	return nil
}

func (u *user) attached(p *point) {
	over := u.left
	if over == nil {
		over = p.end
	}
	u.engine.Exec = func(*proc.Thread) { over() }
	u.engine.End = u.engine.Exec // before the process's parent may start another
	u.engine.Exit = func(t *proc.Thread, _ proc.Status) { p.leftBehind(t) }
	u.process.Attach(&u.engine)
	if u.process.Memory() != u.memory { // it has executed another program, or ended, before that
		p.gone.Store(true)
	}
	go func() {
		select {
		case <-u.process.Done():
			over()
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
			return nil, refusal.New(syscall.ESRCH, "kwatch: there is no process %d", at.Site.PID)
		}
		if at.Site.File != "" {
			if addr, length, err = In(p, *at.Site); err != nil {
				return nil, err
			}
		}
		w := userPoint(p, addr, length, at.Site.Access, calling(at))
		w.place = at
		return w, there(p, w, at.Site.Later)
	}
	inAll = func(at *attach.Place) (attach.Attachment, error) { return follow(table, at) }
}

// calling returns what calls the handler of a place's link.
func calling(at *attach.Place) UserHandler {
	return func(h *Hit, t *proc.Thread) {
		if f := at.Link.Handler; f != nil {
			f(&attach.Hit{Regs: t.Regs(), Place: at, IP: uint64(h.IP), MayBlock: true, Old: h.Old, New: h.New})
		}
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
	load(nil)
	if p.camera != nil {
		p.camera.film.Finish() // the hit that it waits for does not come
	}
}

func (u *user) detached() {
	close(u.over)
	u.mu.Lock()
	u.await()
	u.ended = true
	u.mu.Unlock()
	u.process.Detach(&u.engine) // until then it learns of a handler that keeps its goroutine
}

func (u *user) read(p *point) (v uint64, ok bool) {
	var b [8]byte
	mem := u.process.Memory()
	if mem == nil || mem.Peek(b[:p.length], uint64(p.addr)) < p.length {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}
