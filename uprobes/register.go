package uprobes

import (
	"syscall"

	"sonde/kernel/probe"
)

var errTrap = probe.Refuse(syscall.EDEADLK, "uprobes: a handler of a kernel probe must not sleep, so it cannot register or unregister user probes")

// RegisterUprobe sets u on its instruction. Every thread that executes it from now on
// calls u.Handler first.
//
// Context: goroutine; a handler of a user probe, too.
// Errors: EINPROGRESS called in a handler: it is carried out when all handlers of that
// point have run; EINVAL no handler, or no such address; ESRCH no such process;
// EBUSY u is registered; EFAULT nothing is mapped at the address; EACCES it is
// not to be executed, or mapped shared; EEXIST a breakpoint is there that is none of ours;
// EILSEQ, EOPNOTSUPP no instruction begins there, or one that cannot be probed; ENOMEM;
// EDEADLK called in a handler of a kernel probe. Nothing has changed then.
// Source: spec/5 §4.1.
func RegisterUprobe(u *Uprobe) error { return submit(order{u: u, reg: true}) }

// UnregisterUprobe removes u. When it returns, no handler of u runs, and the
// instruction is as it was unless it has other probes. If the process has ended or runs
// another program, nothing is left to be done.
//
// Context: goroutine; a handler of a user probe, too, even u's own.
// Errors: EINPROGRESS as RegisterUprobe; EINVAL u was never registered, or it has been
// changed since; EDEADLK.
// Source: spec/5 §4.3.
func UnregisterUprobe(u *Uprobe) error { return submit(order{u: u}) }

// RegisterUretprobe sets rp on the function at rp.U.Vaddr: the first instruction's
// address. rp.Handler is called each time when it has returned.
//
// Context: as RegisterUprobe.
// Errors: as RegisterUprobe.
// Source: spec/5 §4.2.
func RegisterUretprobe(rp *Uretprobe) error {
	rp.U.ret = rp
	return submit(order{u: &rp.U, rp: rp, reg: true})
}

// UnregisterUretprobe removes rp. Calls that have not returned do so without it.
//
// Context: as UnregisterUprobe.
// Errors: as UnregisterUprobe.
// Source: spec/5 §4.3.
func UnregisterUretprobe(rp *Uretprobe) error { return submit(order{u: &rp.U, rp: rp}) }

func (o order) register() error {
	u := o.u
	if o.rp == nil && u.Handler == nil || o.rp != nil && o.rp.Handler == nil {
		return probe.Refuse(syscall.EINVAL, "uprobes: a probe without a handler")
	}
	p, err := table.Find(u.Pid)
	if err != nil || p == table.Init() {
		return errEnded(u.Pid)
	}
	mu.Lock()
	defer mu.Unlock()
	if old := u.state.Load(); old != nil && !old.flags.Has(gone) {
		return probe.Refuse(syscall.EBUSY, "uprobes: the probe at %#x of process %d is registered already", old.vaddr, old.pid)
	}
	tk, err := join(p)
	if err != nil {
		return err
	}
	if err := tk.add(o); err != nil {
		tk.unused()
		return err
	}
	return nil
}

// add puts a probe on its point. mu held.
func (tk *task) add(o order) error {
	u := o.u
	if o.rp != nil {
		if err := tk.text.prepareReturns(u.Vaddr); err != nil {
			return err
		}
	}
	pt, err := tk.text.point(u.Vaddr)
	if err != nil {
		return err
	}
	m := &member{u: u, ret: o.rp, owner: o.owner, pid: u.Pid, vaddr: u.Vaddr, process: tk.process, point: pt, idle: make(chan struct{})}
	tk.members = append(tk.members, m)
	pt.members.Add(m)
	if tk.process.Memory() != tk.text.mem { // it has called exec meanwhile, or ended
		tk.remove(m)
		return errEnded(u.Pid)
	}
	u.state.Store(m)
	return nil
}

func (o order) unregister() error {
	mu.Lock()
	m := o.u.state.Load()
	if m == nil || m.pid != o.u.Pid || m.vaddr != o.u.Vaddr {
		mu.Unlock()
		return probe.Refuse(syscall.EINVAL, "uprobes: the probe was never registered, or has been changed since")
	}
	if !m.flags.Has(gone) {
		tasks[m.process].remove(m)
	}
	mu.Unlock()
	m.drain()
	return nil
}
