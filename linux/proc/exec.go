package proc

import (
	"path"
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/space"
)

// Image is a program that is ready to run: an address space that contains it, and its start
// address.
type Image struct {
	Space  *space.Space
	IP, SP uint64
	Path   string // of the program's file, as it was given
	Exe    string // the same, absolute and without symbolic links
	Layout space.Layout
}

// Exec makes t's process run another program. All other threads of the process end first.
// On an error nothing has changed and the caller keeps the image.
//
// Context: t's goroutine, in a system call.
// Errors: EAGAIN another thread was faster; EINTR t must end.
func (t *Thread) Exec(img Image) error {
	p := t.process
	if err := p.claimExec(t); err != nil {
		return err
	}
	if err := p.loneliness(t); err != nil {
		return err
	}
	t.releaseFutexes()
	old := p.mem.Swap(newMemory(img.Space))
	p.replace(t, img)
	old.drop()
	if p.res != nil {
		p.res.Exec()
	}
	t.altStack = abi.Stack{}
	t.cpu.Reset(img.IP, img.SP)
	t.tellExec()
	return nil
}

// claimExec tells all threads but t to end.
func (p *Process) claimExec(t *Thread) error {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.exiting || p.execing != nil {
		return syscall.EAGAIN
	}
	p.execing = t
	for _, o := range p.threads {
		if o != t {
			o.notify()
		}
	}
	p.hurry()
	p.parked = 0
	p.resume.ring() // stopped threads must end, too
	return nil
}

// loneliness waits until t is the only thread.
func (p *Process) loneliness(t *Thread) error {
	for {
		fewer, err := p.lonely()
		if fewer == nil {
			return err
		}
		select {
		case <-fewer:
		case <-t.kick: // perhaps t must end; other signals stay pending
		}
	}
}

// lonely returns nil if there is only one thread; otherwise it returns a channel that says
// when there are fewer.
//
// Errors: EINTR.
func (p *Process) lonely() (fewer <-chan struct{}, err error) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	switch {
	case p.exiting:
		p.execing = nil
		return nil, syscall.EINTR
	case len(p.threads) == 1:
		p.execing = nil
		return nil, nil
	}
	return p.fewer.wait(), nil
}

// replace gives the process what a new program has. The thread becomes the first
// of its process.
func (p *Process) replace(t *Thread, img Image) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if t.TID != p.PID {
		delete(p.table.threads, t.TID)
		t.TID = p.PID
		p.table.threads[t.TID] = t
	}
	p.path, p.exe, p.layout = img.Path, img.Exe, img.Layout
	t.show()
	p.setName(path.Base(img.Path))
	img.Space.SetLimits(p.limits.memory())
	p.execed = true
	p.exitSignal = abi.SIGCHLD
	actions := *p.actions
	actions.ForExec()
	p.actions = &actions
	p.dropTimers()
	p.releaseParent()
	t.work.Store(true)
}

// Spec describes a program that the kernel starts.
type Spec struct {
	Image
	Resources Resources
	Group     int              // of process 1's session; 0: a new one
	Ready     func(p *Process) // called before the program runs; may be nil
}

// Start makes a process, a child of process 1, that runs a program. On an error the caller
// keeps the image.
//
// Errors: EAGAIN beyond a limit, EPERM the group does not exist.
func (t *Table) Start(s Spec) (*Process, error) {
	n := newThread(t.NewCPU())
	n.cpu.Reset(s.IP, s.SP)
	p := &Process{
		table: t, began: time.Now(), done: make(chan struct{}), res: s.Resources,
		path: s.Path, exe: s.Exe, layout: s.Layout,
		actions: new(sharedActions), exitSignal: abi.SIGCHLD,
	}
	name := shortName(path.Base(s.Path))
	p.name.Store(&name)
	if err := t.launch(p, n, s); err != nil {
		return nil, err
	}
	n.tellExec()
	if s.Ready != nil {
		s.Ready(p)
	}
	go n.run()
	return p, nil
}

// launch lists p with its thread.
func (t *Table) launch(p *Process, n *Thread, s Spec) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.mayFork(t.init); err != nil {
		return err
	}
	id, err := t.newID()
	if err != nil {
		return err
	}
	g := t.groups[s.Group]
	if s.Group == 0 {
		g = &Group{ID: id, session: t.init.group.session}
	} else if g == nil || g.session != t.init.group.session {
		return syscall.EPERM
	}
	p.PID, n.TID, n.process = id, id, p
	p.limits = t.init.limits
	p.mem.Store(newMemory(s.Space))
	t.join(p, g)
	t.init.give(p)
	p.watch()
	n.start()
	return nil
}
