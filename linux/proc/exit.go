package proc

import (
	"slices"

	"sonde/kernel/abi"
	"sonde/linux/signal"
)

// Exit ends the whole process of t with a code.
//
// Context: t's goroutine; the program does not continue.
func (t *Thread) Exit(code int) { t.process.exit(Exited(code)) }

// Leave ends t alone; the last thread to leave ends the process with its code.
//
// Context: t's goroutine; the program does not continue.
func (t *Thread) Leave(code int) {
	p := t.process
	if p.threadCount() == 1 {
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
	p.checkQuiet()
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
	close(p.done) // before a parent that waits goes on
	p.tellEnd()
	return hangUp
}

// tellEnd tells the parent of a zombie, which is forgotten if the parent does not want to
// know. mu held.
func (p *Process) tellEnd() {
	parent := p.parent
	code, status := int32(abi.CLD_EXITED), p.status.Code()
	if sig := p.status.Signal(); sig != 0 {
		code, status = abi.CLD_KILLED, sig
	}
	act := &parent.actions.Actions[abi.SIGCHLD]
	unwanted := p.exitSignal == abi.SIGCHLD && (act.Handler == abi.SIG_IGN || act.Flags&abi.SA_NOCLDWAIT != 0)
	if unwanted || p.adopted && parent == p.table.init {
		p.forget()
		parent.news.ring()
		return
	}
	p.tellParent(code, status)
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
func (p *Process) SetSubreaper(on bool) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	p.subreaper = on
}

// Subreaper returns it.
func (p *Process) Subreaper() bool {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.subreaper
}

// releaseParent lets a parent continue that waits in vfork. mu held.
func (p *Process) releaseParent() {
	if p.vfork != nil {
		close(p.vfork)
		p.vfork = nil
	}
}

// orphan gives the children of p to the nearest subreaper above it, or to the kernel. Jobs
// that nobody could continue any more are told to hang up. mu held.
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
