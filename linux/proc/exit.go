package proc

import (
	"fmt"
	"slices"
	"strings"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/linux/core"
	"sonde/linux/signal"
	"sonde/linux/space"
)

// Exit ends the whole process of t with a code.
//
// Context: t's goroutine; the program does not continue.
func (t *Thread) Exit(code int) { t.process.exit(Exited(code)) }

// Leave ends t alone; the last thread to leave ends the process with its code.
//
// Context: t's goroutine; the program does not continue.
func (t *Thread) Leave(code int) {
	if p := t.process; p.threadCount() == 1 {
		p.exit(Exited(code))
		return
	}
	t.leaving, t.code = true, code
	t.work.Store(true)
}

// Kill ends p like a signal that cannot be refused.
func (p *Process) Kill(sig int) { p.exit(Killed(sig)) }

func (p *Process) exit(s Status) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	p.beginExit(s)
}

// beginExit makes all threads end. Only the first reason counts. mu held.
func (p *Process) beginExit(s Status) {
	if p.exiting || p.state != alive || p == p.table.init {
		return
	}
	p.exiting, p.status = true, s
	p.unstop()
	for _, t := range p.threads {
		t.notify()
	}
	p.hurry()
}

// end ends a thread: it releases what the thread holds and forgets it.
//
// Context: t's goroutine.
func (t *Thread) end() {
	p := t.process
	p.table.safely(p, "core file", t.leaveCore)
	p.table.safely(p, "engines", t.tellExit)
	p.table.safely(p, "futexes", t.releaseFutexes)
	if !p.lose(t) {
		return
	}
	t.tellEnd()
	p.finish()
}

// lose takes an ended thread out of p and reports whether it was the last.
func (p *Process) lose(t *Thread) bool {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	p.threads = slices.DeleteFunc(p.threads, func(o *Thread) bool { return o == t })
	delete(p.table.threads, t.TID)
	p.usage.add(t.Usage())
	if t.TID == p.PID {
		p.policy = t.Policy()
	}
	p.fewer.ring()
	if len(p.threads) == 0 {
		return true
	}
	p.allParked()
	// Another thread may take what was pending for this one only.
	p.wakeForPending(t)
	return false
}

// finish releases what the process has, and notifies those concerned. The memory and the
// files are gone before anyone can notice the end.
//
// Context: the goroutine of the last thread.
func (p *Process) finish() {
	p.stopTimers()
	if p.res != nil {
		p.table.safely(p, "files", p.res.Close)
	}
	p.table.safely(p, "memory", p.mem.Swap(nil).drop)
	if hangUp := p.become(); hangUp != nil {
		p.table.safely(p, "terminal", hangUp.HangUp)
	}
}

// become makes p a zombie, closes done and returns the terminal that it leaves, for HangUp.
func (p *Process) become() (hangUp Terminal) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	p.state = zombie
	p.releaseParent()
	p.orphan()
	if s := p.group.session; s.leader == p {
		s.leader = nil
		hangUp, s.tty = s.tty, nil
	}
	close(p.done) // before a parent that waits continues
	p.tellEnd()
	return hangUp
}

// tellEnd tells the parent of a zombie, which is forgotten if the parent does not want to
// know. mu held.
func (p *Process) tellEnd() {
	parent := p.parent
	status := p.status.Code()
	if sig := p.status.Signal(); sig != 0 {
		status = sig
	}
	act := &parent.actions.Actions[abi.SIGCHLD]
	unwanted := p.exitSignal == abi.SIGCHLD && (act.Handler == abi.SIG_IGN || act.Flags&abi.SA_NOCLDWAIT != 0)
	if unwanted || p.adopted && parent == p.table.init {
		p.forget()
		parent.news.ring()
		return
	}
	p.tellParent(p.status.how(), status)
}

// reaper is what adopts the children of p when it ends. mu held.
func (p *Process) reaper() *Process {
	for up := p.parent; up != nil; up = up.parent {
		if up.subreaper && up.state == alive && !up.exiting {
			return up
		}
	}
	return p.table.init
}

// SetSubreaper says whether p adopts what its descendants leave when they end.
//
// Source: Linux, PR_SET_CHILD_SUBREAPER(2const).
func (p *Process) SetSubreaper(on bool) { lock.Set(&p.table.mu, &p.subreaper, on) }

// Subreaper returns it.
func (p *Process) Subreaper() bool { return lock.Get(&p.table.mu, &p.subreaper) }

// releaseParent lets a parent continue that waits in vfork. mu held.
func (p *Process) releaseParent() {
	if p.vfork != nil {
		close(p.vfork)
		p.vfork = nil
	}
}

// orphan gives the children of p to the nearest subreaper above it, or to the kernel. Jobs
// that can no longer be continued get SIGHUP. mu held.
func (p *Process) orphan() {
	init, reaper := p.table.init, p.reaper()
	for _, c := range p.children {
		was := c.group != nil && c.group.orphaned()
		c.parent, c.adopted = reaper, reaper == init
		c.showParent()
		c.exitSignal = abi.SIGCHLD
		reaper.children = append(reaper.children, c)
		if c.deathSig != 0 {
			c.send(signalOf(c.deathSig))
		}
		switch {
		case c.state == zombie && reaper == init:
			c.forget()
		case c.state == zombie:
			c.tellEnd()
		case !was:
			c.group.abandoned()
		}
	}
	p.children = nil
	if p.group != nil {
		p.group.abandoned()
	}
}

// abandoned sends SIGHUP to the stopped members of a group that has become orphaned. mu
// held.
func (g *Group) abandoned() {
	stopped := slices.ContainsFunc(g.members, func(p *Process) bool { return p.stopped != 0 })
	if stopped && g.orphaned() {
		g.send(signalOf(abi.SIGHUP))
		g.send(signalOf(abi.SIGCONT))
	}
}

// forget removes a process that has ended, once its end is known. mu held.
func (p *Process) forget() {
	p.state = gone
	if parent := p.parent; parent != nil {
		parent.children = slices.DeleteFunc(parent.children, func(c *Process) bool { return c == p })
		u := p.used()
		u.add(p.reaped)
		parent.reaped.add(u)
	}
	p.table.leave(p)
	delete(p.table.procs, p.PID)
	p.pending = signal.Queue{}
}

// leastCore is the smallest RLIMIT_CORE with which a core file is written.
const leastCore = space.PageSize

// Dumper is Resources that can write a core file.
type Dumper interface {
	WriteCore(p *Process, d *core.Dump) error
}

// dump is a core file that will be written. All threads come to their end first, and stay there
// until it is written.
type dump struct {
	by      *Thread       // took the signal, and writes
	threads []core.Thread // have come to their end; guarded by Table.mu
	done    chan struct{} // closed when it is written
}

// beginDump has t's process leave a core file, if it may. mu held.
func (t *Thread) beginDump() {
	p := t.process
	_, can := p.res.(Dumper)
	if can && !p.exiting && p.limits[abi.RLIMIT_CORE].Cur >= leastCore && t.Memory().Dumpable() {
		p.dump = &dump{by: t, done: make(chan struct{})}
	}
}

// leaveCore is a thread's part in a core file.
//
// Context: t's goroutine, or another if a handler has kept that.
func (t *Thread) leaveCore() {
	switch d := t.joinDump(); {
	case d == nil:
	case d.by == t:
		defer close(d.done)
		t.process.gather()
		t.writeCore(d)
	case !t.LeftBehind(): // one goroutine ends all that are
		<-d.done
	}
}

// joinDump adds what t is to the core file, and returns that; nil: there is none.
func (t *Thread) joinDump() *dump {
	p := t.process
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	d := p.dump
	if d == nil {
		return nil
	}
	at := len(d.threads)
	if d.by == t {
		at = 0
	}
	d.threads = slices.Insert(d.threads, at, t.remains())
	t.dumped = true
	p.fewer.ring()
	return d
}

// remains is what a core file says about t. mu held.
func (t *Thread) remains() core.Thread {
	call := ^uint64(0)
	if t.regs.CX == t.regs.IP { // as SYSCALL leaves them
		call = t.call
	}
	fs, gs := t.cpu.Bases()
	used, of := t.Usage(), t.process.reaped
	c := core.Thread{TID: t.TID, Regs: *t.regs, Call: call, FS: *fs, GS: *gs, FP: slices.Clone(t.cpu.FP())}
	c.Pending, c.Blocked = uint64(t.pending.Set()), uint64(t.blocked)
	c.Used[0], c.Used[1], c.Used[2], c.Used[3] = used.User, used.System, of.User, of.System
	return c
}

// gather waits until all threads of p have come to their end.
func (p *Process) gather() {
	for fewer := p.stillRuns(); fewer != nil; fewer = p.stillRuns() {
		<-fewer
	}
}

// stillRuns returns a channel that says when fewer threads run; nil: none does.
func (p *Process) stillRuns() <-chan struct{} {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if slices.ContainsFunc(p.threads, func(t *Thread) bool { return !t.dumped }) {
		return p.fewer.wait()
	}
	return nil
}

// writeCore writes the core file, and notes that in p's status.
func (t *Thread) writeCore(d *dump) {
	p, f, m := t.process, t.process.Facts(), t.Memory()
	args := p.textAt(f.Layout.ArgStart, min(f.Layout.ArgEnd, f.Layout.ArgStart+space.PageSize))
	err := p.res.(Dumper).WriteCore(p, &core.Dump{
		Signal: t.info, PID: p.PID, Parent: f.Parent, Group: f.Group, Session: f.Session, Nice: f.Nice,
		Name: f.Name, Args: strings.TrimRight(strings.ReplaceAll(args, "\x00", " "), " "), Auxv: f.Layout.Auxv,
		Threads: d.threads, Areas: m.Dumped(p.CoreFilter()), Page: m.DumpedPage,
	})
	if err != nil {
		t.log(fmt.Sprintf("no core file of %s[%d]: %v", f.Name, p.PID, err))
		return
	}
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	p.status |= dumped
}
