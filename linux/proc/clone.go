package proc

import (
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/linux/signal"
)

// CloneArgs are the arguments of clone, in any of its forms.
type CloneArgs struct {
	Flags      uint64 // CLONE_*
	ExitSignal int
	Stack      uint64 // 0: the same address
	TLS        uint64
	ParentTID  uint64 // where to store the number, for CLONE_PARENT_SETTID
	ChildTID   uint64 // for CLONE_CHILD_SETTID and CLONE_CHILD_CLEARTID

	// Made, if not nil, is called for CLONE_PIDFD with the new process, which has its
	// descriptors and is not yet visible. If it returns an error, there is no process, and
	// Clone returns the error. If Clone fails later, it calls undo.
	Made func(child *Process) (undo func(), err error)
}

// refused are flags of namespaces and cgroups, of which there is one each.
const refused = abi.CLONE_NEWNS | abi.CLONE_NEWCGROUP | abi.CLONE_NEWUTS | abi.CLONE_NEWIPC |
	abi.CLONE_NEWUSER | abi.CLONE_NEWPID | abi.CLONE_NEWNET | abi.CLONE_INTO_CGROUP

func (a *CloneArgs) check() error {
	f := a.Flags
	switch {
	case f&refused != 0,
		f&abi.CLONE_THREAD != 0 && f&abi.CLONE_SIGHAND == 0,
		f&abi.CLONE_SIGHAND != 0 && f&abi.CLONE_VM == 0,
		f&abi.CLONE_SIGHAND != 0 && f&abi.CLONE_CLEAR_SIGHAND != 0,
		f&abi.CLONE_PIDFD != 0 && f&(abi.CLONE_THREAD|abi.CLONE_DETACHED) != 0,
		a.ExitSignal != 0 && !signal.Valid(a.ExitSignal),
		a.Stack >= userEnd, a.TLS >= userEnd:
		return syscall.EINVAL
	}
	return nil
}

// userEnd is above all addresses that a program can have.
const userEnd = 1 << 47

// Clone makes a thread or a process that continues where t is, with 0 in AX, and returns
// its number. With CLONE_VFORK it returns when the child has ended or runs another program.
//
// Context: t's goroutine.
// Errors: EINVAL; EAGAIN beyond a limit; ENOMEM; EFAULT. After an error nothing is left
// behind.
func (t *Thread) Clone(a CloneArgs) (id int, err error) {
	if err := a.check(); err != nil {
		return 0, err
	}
	policy := t.Policy()
	if policy.Kind == SchedDeadline && !policy.Reset {
		return 0, syscall.EAGAIN // as Linux, which has promised that time to one thread
	}
	n := newThread(t.cpu.Clone())
	n.prepare(a)
	n.nice.Store(t.nice.Load())
	n.ioprio.Store(t.ioprio.Load())
	n.beginSlack(t.RawSlack())
	n.SetPolicy(policy.inherited())
	if a.Flags&abi.CLONE_THREAD != 0 {
		err = t.process.adopt(t, n)
	} else {
		err = t.fork(n, a)
	}
	if err != nil {
		return 0, err
	}
	id, vfork := n.TID, n.process.vforkEnd()
	t.release(n, a)
	if a.Flags&abi.CLONE_VFORK != 0 {
		t.awaitChild(vfork)
	}
	return id, nil
}

// release lets n run once it is known everywhere, and also after a panic, because it is in
// the table.
func (t *Thread) release(n *Thread, a CloneArgs) {
	defer func() { go n.run() }()
	t.storeIDs(n, a)
	t.tellClone(n, a.Flags)
}

// prepare sets the registers of a new thread.
func (n *Thread) prepare(a CloneArgs) {
	r := n.cpu.Regs()
	r.AX = 0
	if a.Stack != 0 {
		r.SP = a.Stack
	}
	if a.Flags&abi.CLONE_SETTLS != 0 {
		fs, _ := n.cpu.Bases()
		*fs = a.TLS
	}
	if a.Flags&abi.CLONE_CHILD_CLEARTID != 0 {
		n.clearTID = a.ChildTID
	}
}

// storeIDs writes the child's number where clone was asked to. As in Linux, a bad address
// is ignored.
func (t *Thread) storeIDs(n *Thread, a CloneArgs) {
	if a.Flags&abi.CLONE_PARENT_SETTID != 0 {
		t.Memory().Store32(a.ParentTID, uint32(n.TID))
	}
	if a.Flags&abi.CLONE_CHILD_SETTID != 0 {
		n.Memory().Store32(a.ChildTID, uint32(n.TID))
	}
}

// adopt makes n a thread of p, next to t.
func (p *Process) adopt(t, n *Thread) error {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.exiting || p.execing != nil {
		return syscall.EAGAIN
	}
	id, err := p.table.admit(p)
	if err != nil {
		return err
	}
	n.TID, n.process, n.blocked, n.cpus = id, p, t.blocked, t.cpus
	n.start()
	return nil
}

// start lists n in its process. mu held.
func (n *Thread) start() {
	p := n.process
	p.threads = append(p.threads, n)
	p.table.threads[n.TID] = n
	p.table.forks++
	n.show()
	n.cpu.Bind(n.cpus) // t may have been bound to other CPUs meanwhile
	if p.stopped != 0 {
		n.work.Store(true)
	}
}

// fork makes n the thread of a new process, a child of t's.
func (t *Thread) fork(n *Thread, a CloneArgs) error {
	p := t.process
	mem := t.Memory()
	if a.Flags&abi.CLONE_VM != 0 {
		mem = mem.hold()
	} else {
		m, err := mem.fork()
		if err != nil {
			return err
		}
		mem = m
	}
	if a.Flags&(abi.CLONE_VM|abi.CLONE_VFORK) != abi.CLONE_VM {
		n.altStack = t.altStack // the two never use it at the same time
	}
	c := &Process{table: p.table, began: time.Now(), done: make(chan struct{}), exitSignal: a.ExitSignal, state: unborn}
	c.mem.Store(mem)
	if p.res != nil {
		c.res = p.res.Clone(a.Flags)
	}
	undo, err := a.made(c)
	if err == nil {
		err = p.beget(c, t, n, a)
	}
	if err != nil {
		undo()
		c.discard()
	}
	return err
}

// made calls Made, if there is one.
func (a *CloneArgs) made(c *Process) (undo func(), err error) {
	if a.Made != nil {
		undo, err = a.Made(c)
	}
	if undo == nil {
		undo = func() {}
	}
	return undo, err
}

// discard releases what an unborn process has.
func (c *Process) discard() {
	if c.res != nil {
		c.res.Close()
	}
	c.mem.Swap(nil).drop()
}

// beget makes c, with the thread n, a child of p.
func (p *Process) beget(c *Process, t, n *Thread, a CloneArgs) error {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.exiting {
		return syscall.EAGAIN
	}
	id, err := p.table.admit(p)
	if err != nil {
		return err
	}
	c.PID, n.TID, n.process, n.blocked, n.cpus = id, id, c, t.blocked, t.cpus
	c.state = alive
	c.inherit(p, a.Flags)
	parent := p
	if a.Flags&abi.CLONE_PARENT != 0 {
		parent = p.parent
		c.exitSignal = p.exitSignal
		c.adopted = parent == p.table.init // it has not asked for this child
	}
	parent.give(c)
	c.watch()
	n.start()
	return nil
}

// give makes c a child of p, in its maker's group. mu held.
func (p *Process) give(c *Process) {
	c.parent = p
	c.showParent()
	p.children = append(p.children, c)
	p.table.procs[c.PID] = c
}

// inherit copies what a child has from its maker. mu held.
func (c *Process) inherit(p *Process, flags uint64) {
	c.path, c.exe, c.layout, c.limits = p.path, p.exe, p.layout, p.limits
	c.fileLimit.Store(p.fileLimit.Load())
	c.name.Store(p.name.Load())
	c.persona.Store(p.persona.Load())
	c.groups.Store(p.groups.Load())
	c.filter.Store(p.filter.Load())
	if flags&abi.CLONE_SIGHAND != 0 {
		c.actions = p.actions
	} else {
		c.actions = &sharedActions{p.actions.Actions}
	}
	if flags&abi.CLONE_CLEAR_SIGHAND != 0 {
		c.actions.ForExec()
	}
	if flags&abi.CLONE_VFORK != 0 {
		c.vfork = make(chan struct{})
	}
	p.table.join(c, p.group)
	if c.limits[abi.RLIMIT_CPU] != unlimited {
		c.watchCPU()
	}
}

// vforkEnd returns the channel that is closed when a child of vfork releases its parent;
// nil: p is not such a child.
func (p *Process) vforkEnd() <-chan struct{} { return lock.Get(&p.table.mu, &p.vfork) }

// awaitChild waits until a child of vfork has its own memory, or t must end. Other signals
// stay pending.
func (t *Thread) awaitChild(done <-chan struct{}) {
	t.mayBlock()
	t.sleeping.Store(true)
	t.deep.Store(true)
	defer t.deep.Store(false)
	for done != nil && !t.dying() {
		select {
		case <-done:
			return
		case <-t.kick:
		}
	}
}

// dying reports whether t must end.
func (t *Thread) dying() bool {
	p := t.process
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	t.takeAsked()
	return p.exiting || p.execing != nil && p.execing != t
}
