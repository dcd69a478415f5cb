package uprobes

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/module"
	"sonde/kernel/printk"
)

// trapSafe reports whether hits of the probe may be handled in trap context.
func (o order) trapSafe() bool { return o.u.TrapSafe && (o.rp == nil || o.rp.DataWords <= keptWords) }

// careful reports whether X0-X14 must be saved for a handler of the probe in trap context.
func (o order) careful() bool {
	if !o.trapSafe() || careful == nil {
		return false
	}
	entry := o.entryHandler()
	return careful(o.handler()) || goabi.CodeOf(entry) != 0 && careful(entry)
}

// code is where the code of its handlers begins, for blame.
func (o order) code() [2]uintptr {
	return [2]uintptr{goabi.CodeOf(o.handler()), goabi.CodeOf(o.entryHandler())}
}

// handler returns the user's function that hits call, or that returns do.
func (o order) handler() any {
	switch {
	case o.u.Place != nil:
		return o.u.Place.Link.Handler
	case o.rp != nil:
		return o.rp.Handler
	}
	return o.u.Handler
}

// entryHandler returns the one that calls of the function call, a nil func if there is none.
func (o order) entryHandler() any {
	switch {
	case o.rp == nil:
		return nil
	case o.u.Place != nil:
		return o.u.Place.Link.Options.Entry
	}
	return o.rp.EntryHandler
}

// submit carries out an order, or queues it if this is a handler of a user probe.
//
// Errors: EINPROGRESS it is queued; EDEADLK this is a handler of a kernel probe; ESRCH the
// handler's thread has ended; EINVAL o has no probe.
func submit(o order) error {
	if mach.InTrap() {
		return errTrap
	}
	if o.u == nil {
		return errNil
	}
	if th := handling(); th != nil {
		if th.t.LeftBehind() {
			return errEnded(th.t.TID)
		}
		o.owner = th.asker()
		th.queue = append(th.queue, o)
		return syscall.EINPROGRESS
	}
	o.owner = module.Current()
	return o.carryOut()
}

// asker is that for a request from the handler or callback that th is in.
func (th *thread) asker() string {
	if th.own.Probe != 0 {
		return asMember(th.own.Probe).owner
	}
	return th.owner
}

func (o order) carryOut() error {
	if o.reg {
		return o.register()
	}
	return o.unregister()
}

// carryOut carries out what handlers have requested, and calls their callbacks. Requests of
// callbacks are carried out after that.
func (th *thread) carryOut() {
	for len(th.queue) > 0 {
		o := th.queue[0]
		th.queue = th.queue[1:]
		result := o.carryOut()
		if f := o.u.RegistrationCallback; f != nil {
			typ, reg := UPTY_UPROBE, 0
			if o.rp != nil {
				typ = UPTY_URETPROBE
			}
			if o.reg {
				reg = 1
			}
			th.owner = o.owner
			th.callBack(func() { f(o.u, reg, typ, result) }, o.u)
		}
	}
	th.queue = nil
}

// callBack calls a callback of u. A panic in it has no other effect; like a handler, it is
// left behind if it does not return.
func (th *thread) callBack(f func(), u *Uprobe) {
	th.t.EnterHandler()
	defer func() {
		e := recover()
		if !th.t.LeaveHandler() {
			th.vanish()
		}
		if e != nil {
			printk.Err("uprobes: %v in the callback of the probe at %#x of process %d\n%s", fmt.Sprint(e), u.Vaddr, u.Pid, debug.Stack())
		}
	}()
	f()
}

// vanish ends the goroutine of a thread that has ended without it.
func (th *thread) vanish() {
	running.Delete(mach.Goroutine())
	runtime.Goexit()
}
