package uprobes

import (
	"syscall"

	"sonde/kernel/module"
)

// An order is a registration, or the opposite, that is to be carried out.
type order struct {
	u     *Uprobe
	rp    *Uretprobe // u is its U
	reg   bool
	owner string // the module that asks for it
}

// submit carries an order out, or queues it if this is a handler.
//
// Errors: EINPROGRESS it is queued; EDEADLK this is a handler of a kernel probe; ESRCH
// the handler's thread has ended; EINVAL o has no probe.
func submit(o order) error {
	if inTrap() {
		return errTrap
	}
	if o.u == nil {
		return errNil
	}
	if th := handling(); th != nil {
		if th.t.LeftBehind() {
			return errEnded(th.t.TID)
		}
		o.owner = th.owner
		if th.in != nil {
			o.owner = th.in.owner
		}
		th.queue = append(th.queue, o)
		return syscall.EINPROGRESS
	}
	o.owner = module.Current()
	return o.carryOut()
}

func (o order) carryOut() error {
	if o.reg {
		return o.register()
	}
	return o.unregister()
}

// carryOut does what handlers have asked for, and tells them. What callbacks ask for
// comes behind it.
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
			o.tell(f, reg, typ, result)
		}
	}
	th.queue = nil
}

// tell calls a callback. A panic in it is nobody's but its own.
func (o order) tell(f func(*Uprobe, int, Type, error), reg int, typ Type, result error) {
	defer caught(o.u, "callback")
	f(o.u, reg, typ, result)
}
