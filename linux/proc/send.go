package proc

import (
	"math/bits"
	"syscall"

	"sonde/kernel/abi"
	"sonde/linux/signal"
)

// Send sends p a signal, like kill; signal 0 only checks whether that is possible.
//
// Errors: ESRCH p has been waited for; EINVAL; EAGAIN too many realtime signals are
// pending.
func (p *Process) Send(info abi.Siginfo) error {
	if info.Signo == 0 {
		return p.exists()
	}
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.send(&info)
}

func (p *Process) exists() error {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.state == gone || p.state == unborn {
		return syscall.ESRCH
	}
	return nil
}

// send is Send with mu held.
func (p *Process) send(info *abi.Siginfo) error {
	if err := p.accepts(info); err != nil {
		return err
	}
	if p.state != alive || p == p.table.init {
		return nil
	}
	return p.queue(&p.pending, info, p.pick)
}

// Send sends t a signal, like tgkill.
//
// Errors: those of Process.Send.
func (t *Thread) Send(info abi.Siginfo) error {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	return t.send(&info)
}

// send is Send with mu held.
func (t *Thread) send(info *abi.Siginfo) error {
	if info.Signo == 0 {
		return nil
	}
	if err := t.process.accepts(info); err != nil {
		return err
	}
	return t.process.queue(&t.pending, info, func(signal.Set) *Thread { return t })
}

// accepts returns an error for an invalid signal. mu held.
func (p *Process) accepts(info *abi.Siginfo) error {
	switch n := int(info.Signo); {
	case !signal.Valid(n):
		return syscall.EINVAL
	case p.state == gone, p.state == unborn:
		return syscall.ESRCH
	case signal.Realtime(n) && uint64(p.waiting()) >= p.limits[abi.RLIMIT_SIGPENDING].Cur:
		return syscall.EAGAIN
	}
	return nil
}

// waiting returns how many signals are pending for p and its threads. mu held.
func (p *Process) waiting() int {
	n := p.pending.Len()
	for _, t := range p.threads {
		n += t.pending.Len()
	}
	return n
}

// queue adds a signal to q, unless it is ignored, and wakes the thread that pick chooses.
// Stop signals and SIGCONT remove each other from the queues. mu held.
func (p *Process) queue(q *signal.Queue, info *abi.Siginfo, pick func(signal.Set) *Thread) error {
	n := int(info.Signo)
	switch {
	case n == abi.SIGKILL:
		p.beginExit(Killed(n))
		return nil
	case n == abi.SIGCONT:
		p.unqueue(signal.Stops)
		p.goOn()
	case signal.Stops.Has(n):
		p.unqueue(signal.Of(abi.SIGCONT))
	}
	t := pick(signal.One(n))
	// A blocked signal that is ignored now may have a handler by the time that it is
	// unblocked. Engines see all signals.
	if p.actions.Ignored(n) && p.attached() == nil && !(t != nil && t.blocked.Has(n)) && !p.blockedByAll(n) {
		return nil
	}
	if !q.Add(info) {
		return nil
	}
	p.tellReaders()
	if t != nil && (!t.blocked.Has(n) || t.waits.Has(n)) {
		t.notify()
	}
	return nil
}

// pick returns a thread that does not block the signal or waits for it, preferably the
// first; nil: there is none. mu held.
func (p *Process) pick(s signal.Set) *Thread {
	for _, t := range p.threads {
		if t.blocked&s == 0 || t.waits&s != 0 {
			return t
		}
	}
	return nil
}

func (p *Process) blockedByAll(n int) bool { return p.pick(signal.Of(n)) == nil }

// leaveToOthers is called when t does not take signals of a set any more: it may be the one that was woken
// for those that are pending. mu held.
func (t *Thread) leaveToOthers(s signal.Set) {
	if t.process.pending.Set()&s != 0 {
		t.process.wakeForPending(t)
	}
}

// wakeForPending wakes the threads but t that may take a signal which is pending. mu held.
func (p *Process) wakeForPending(t *Thread) {
	for _, o := range p.threads {
		if _, ok := o.next(); ok && o != t {
			o.notify()
		}
	}
}

// unqueue drops pending signals, of all threads. mu held.
func (p *Process) unqueue(s signal.Set) {
	p.pending.Remove(s)
	for _, t := range p.threads {
		t.pending.Remove(s)
		if t.taken != 0 && s.Has(t.taken) {
			t.taken = 0
		}
	}
	p.releaseTimers()
}

// SendGroup sends a signal to all processes of group id.
//
// Errors: ESRCH there is no such group; if no process got the signal, those of
// Process.Send.
func (t *Table) SendGroup(id int, info abi.Siginfo) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[id]
	if g == nil {
		return syscall.ESRCH
	}
	return g.send(&info)
}

// send is SendGroup with mu held.
func (g *Group) send(info *abi.Siginfo) (err error) {
	err = syscall.ESRCH
	for _, p := range g.members {
		if info.Signo == 0 {
			return nil
		}
		if e := p.send(info); e == nil || err != nil {
			err = e
		}
	}
	return err
}

// SendAll sends a signal to all processes except the kernel and one other.
//
// Errors: ESRCH if there are none.
func (t *Table) SendAll(but *Process, info abi.Siginfo) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := error(syscall.ESRCH)
	for _, p := range t.procs {
		if p != but && p != t.init {
			err = nil
			if info.Signo != 0 {
				p.send(&info)
			}
		}
	}
	return err
}

// FindThread returns the thread with that number, of the process with that number
// (0: any).
//
// Errors: ESRCH.
func (t *Table) FindThread(pid, tid int) (*Thread, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.thread(pid, tid)
}

// SendThread is FindThread, and Send to the thread found.
func (t *Table) SendThread(pid, tid int, info abi.Siginfo) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	th, err := t.thread(pid, tid)
	if err != nil {
		return err
	}
	return th.send(&info)
}

// thread is FindThread with mu held.
func (t *Table) thread(pid, tid int) (*Thread, error) {
	th := t.threads[tid]
	if th == nil || pid != 0 && th.process.PID != pid {
		return nil, syscall.ESRCH
	}
	return th, nil
}

// ask is Send to t's process for trap code that runs for t: no lock is taken, and the signal comes before the
// program continues, or before the call that t is in sleeps.
//
// Context: any, where t's goroutine cannot run meanwhile.
func (t *Thread) ask(n int) {
	t.asked.Or(1 << (n - 1))
	t.work.Store(true)
}

// takeAsked sends what trap code has asked for. mu held.
func (t *Thread) takeAsked() {
	for set := t.asked.Swap(0); set != 0; set &= set - 1 {
		t.process.send(signalOf(bits.TrailingZeros64(set) + 1))
	}
}

// SignalFrom makes a signal that a process sends; code says by which call.
func SignalFrom(sender *Process, n int, code int32) abi.Siginfo {
	info := abi.Siginfo{Signo: int32(n), Code: code}
	info.SetSender(uint32(sender.PID), 0)
	return info
}

// SignalOf makes a signal that the kernel sends.
func SignalOf(n int) abi.Siginfo { return abi.Siginfo{Signo: int32(n), Code: abi.SI_KERNEL} }

func signalOf(n int) *abi.Siginfo {
	info := SignalOf(n)
	return &info
}
