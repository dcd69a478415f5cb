package uprobes

import (
	"slices"
	"syscall"

	"sonde/kernel/grace"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/probe/ledger"
	"sonde/uprobes/images"
)

// RegisterUprobe inserts u at its instruction. From now on every thread that executes it
// calls u.Handler first.
//
// Context: goroutine, including handlers of user probes.
// Errors: EINPROGRESS called in a handler, and carried out after all handlers of that point
// have run; EINVAL no handler, or no such address; ESRCH no such process; EBUSY u is
// registered; EFAULT nothing is mapped at the address; EACCES it is not executable, or
// mapped shared; EEXIST the program has a breakpoint of its own there; EILSEQ no
// instruction begins there; EOPNOTSUPP the instruction cannot be probed; ENOMEM; EDEADLK
// called in a handler in trap context. After any error but EINPROGRESS nothing has
// changed.
// Source: uprobes.txt §4.1.
func RegisterUprobe(u *Uprobe) error { return submit(order{u: u, reg: true}) }

// UnregisterUprobe removes u, or the return probe whose U it is. When it returns, no handler of it
// is running, and the instruction is as before unless it has other probes. If the process has ended
// or runs another program, there is nothing to do.
//
// Context: goroutine, including handlers of user probes, even u's own.
// Errors: EINPROGRESS as RegisterUprobe; EINVAL u was never registered, or has been changed
// since; EDEADLK.
// Source: uprobes.txt §4.3.
func UnregisterUprobe(u *Uprobe) error { return submit(order{u: u}) }

// Remove removes several probes; of return probes, give their U. One wait for the handlers of all of them is left
// to the change.
//
// Context: goroutine; in a handler of a user probe, they are removed after it.
func Remove(us []*Uprobe) (c grace.Change) {
	if handling() != nil || mach.InTrap() {
		for _, u := range us {
			UnregisterUprobe(u)
		}
		return c
	}
	var left []*member
	for _, u := range us {
		members, _ := order{u: u}.takeOut() // if it is not registered, there is nothing to do
		left = append(left, members...)
	}
	return leaving(left)
}

// RegisterUretprobe registers a return probe on the function whose first instruction is at
// rp.U.Vaddr. rp.Handler is called after each return.
//
// Context: as RegisterUprobe. Errors: those of RegisterUprobe; ERANGE MaxActive or DataWords is
// negative or too large; ENOMEM their product is too large. Source: uprobes.txt §4.2.
func RegisterUretprobe(rp *Uretprobe) error {
	if rp == nil {
		return errNil
	}
	rp.U.ret = rp
	return submit(order{u: &rp.U, rp: rp, reg: true})
}

// UnregisterUretprobe removes rp. Calls that have not returned do so without the handler.
//
// Context: as UnregisterUprobe.
// Errors: those of UnregisterUprobe.
// Source: uprobes.txt §4.3.
func UnregisterUretprobe(rp *Uretprobe) error { return submit(order{u: rp.entry(), rp: rp}) }

func (o order) register() error {
	u := o.u
	if o.rp == nil && u.Handler == nil || o.rp != nil && o.rp.Handler == nil {
		return refusal.New(syscall.EINVAL, "the probe has no handler")
	}
	if o.rp != nil {
		if _, err := o.rp.limit(); err != nil {
			return err
		}
	}
	if u.TrapSafe {
		keepWatch()
	}
	if u.Path != "" {
		return o.registerFile()
	}
	p, err := table.Find(u.Pid)
	if err != nil || p == table.Init() {
		return errEnded(u.Pid)
	}
	mu.Lock()
	defer mu.Unlock()
	if err := o.taken(); err != nil {
		return err
	}
	tk, err := join(p)
	if err != nil {
		return err
	}
	ms, err := tk.add(o, u.Vaddr)
	if err != nil {
		tk.unused()
		return err
	}
	for _, m := range ms {
		m.beginsDisabled(u.Disabled)
	}
	im, bias := images.At(tk.text.mem.Space, u.Vaddr)
	u.conventionOf(im, u.Vaddr-bias)
	u.file.Store(nil)
	u.state.Store(ms[0])
	tk.list(ms)
	return nil
}

// taken returns an error if the probe is registered. mu held.
//
// Errors: EBUSY.
func (o order) taken() error {
	f := o.u.file.Load()
	if m := o.u.state.Load(); m != nil && !m.flags.Has(unregistered) || slices.Contains(files, f) {
		return refusal.New(syscall.EBUSY, "the probe is registered already")
	}
	return nil
}

// add makes the members at the points that a probe at addr needs; a return probe may need
// several. list then lets hits find them. mu held.
func (tk *task) add(o order, addr uint64) (ms []*member, err error) {
	if o.rp != nil {
		ms, err = tk.addReturn(o, addr)
	} else {
		ms, err = tk.place(o, addr, []uint64{addr}, returning{})
	}
	if err != nil {
		return nil, err
	}
	shared := new(ledger.Counter)
	for _, m := range ms {
		m.Counter = shared
	}
	ms[0].others = ms[1:]
	return ms, nil
}

// place makes members like the given one, of a probe at addr, at the points at. mu held.
func (tk *task) place(o order, addr uint64, at []uint64, like returning) (ms []*member, err error) {
	for _, a := range at {
		pt, err := tk.text.point(a)
		if err == nil && o.camera != nil && pt.camera() != nil {
			err = errCamera
		}
		if err == nil && tk.process.Memory() != tk.text.mem { // it has called exec meanwhile, or ended
			err = errEnded(tk.process.PID)
		}
		if pt != nil {
			ms = append(ms, &member{u: o.u, ret: o.rp, owner: o.owner, pid: tk.process.PID, vaddr: addr, process: tk.process,
				point: pt, idle: make(chan struct{}), returning: like, trapSafe: o.trapSafe(), careful: o.careful(), code: o.code(), camera: o.camera})
		}
		if err != nil {
			tk.discard(ms)
			return nil, err
		}
	}
	return ms, nil
}

// discard removes the points again that were made for members which are not listed. mu
// held.
func (tk *task) discard(ms []*member) {
	for _, m := range ms {
		tk.text.unlist(m)
	}
}

// list lets hits find ms, those that end calls first: no call begins whose end is missed. mu held.
func (tk *task) list(ms []*member) {
	for _, m := range slices.Backward(ms) { // its first is the one at the function's beginning
		tk.members = append(tk.members, m)
		m.point.set(append(m.point.registered(), m))
		tk.text.disarmUnwanted(m.point)
	}
}

func (o order) unregister() error {
	left, err := o.takeOut()
	drain(left)
	return err
}

// takeOut removes a probe; handlers of the members it returns may still be running.
func (o order) takeOut() (left []*member, err error) {
	mu.Lock()
	defer mu.Unlock()
	u := o.u
	if f := u.file.Load(); f != nil {
		if !slices.Contains(files, f) {
			return nil, nil
		}
		return removeFile(f), nil
	}
	m := u.state.Load()
	if m == nil || m.pid != u.Pid || m.vaddr != u.Vaddr {
		return nil, refusal.New(syscall.EINVAL, "the probe was never registered, or has been changed since")
	}
	left = m.all()
	for _, m := range left {
		if !m.flags.Has(unregistered) {
			tasks[m.process].remove(m)
		}
	}
	return left, nil
}

// conventionOf tells the link where the function at an address of its file finds its arguments.
func (u *Uprobe) conventionOf(im *images.Image, addr uint64) {
	if im != nil && u.Place != nil {
		u.Place.Convention = im.Convention(addr)
	}
}

// asker returns the module that makes a request, in a handler or not; "" for the kernel.
func asker() string {
	if th := handling(); th != nil {
		return th.asker()
	}
	return module.Current()
}
