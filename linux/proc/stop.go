package proc

import "sonde/kernel/abi"

// stop makes all threads of p stop. mu held.
func (p *Process) stop(sig int) {
	if p.stopped != 0 || p.exiting {
		return
	}
	p.stopped, p.parked = sig, 0
	p.contNews = false
	for _, t := range p.threads {
		t.notify()
	}
}

// park is a thread's part in a stop: it sleeps until the process continues. The last thread
// to stop notifies the parent.
//
// Context: t's goroutine.
func (t *Thread) park() {
	resume := t.process.parkOne()
	if resume == nil {
		return
	}
	t.sleeping.Store(true)
	<-resume
	t.sleeping.Store(false)
}

// parkOne counts a thread that stops, and returns a channel that says when it may continue;
// nil: it need not stop.
func (p *Process) parkOne() <-chan struct{} {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.stopped == 0 || p.exiting || p.execing != nil {
		return nil
	}
	p.parked++
	p.allParked()
	return p.resume.wait()
}

// allParked notifies the parent when the last thread has stopped. mu held.
func (p *Process) allParked() {
	if p.stopped == 0 || p.parked < len(p.threads) || p.stopNews || p.exiting {
		return
	}
	p.stopNews = true
	p.tellParent(abi.CLD_STOPPED, p.stopped)
}

// goOn ends a stop. mu held.
func (p *Process) goOn() {
	if p.stopped == 0 {
		return
	}
	p.unstop()
	p.contNews = true
	p.tellParent(abi.CLD_CONTINUED, abi.SIGCONT)
}

// unstop lets parked threads run. mu held.
func (p *Process) unstop() {
	p.stopped, p.parked = 0, 0
	p.stopNews, p.stopTold = false, false
	p.resume.ring()
}

// tellParent notifies the parent of what happened to p. mu held.
func (p *Process) tellParent(code int32, status int) {
	parent := p.parent
	if parent == nil {
		return
	}
	parent.news.ring()
	act := &parent.actions.Actions[abi.SIGCHLD]
	if act.Flags&abi.SA_NOCLDSTOP != 0 && (code == abi.CLD_STOPPED || code == abi.CLD_CONTINUED) {
		return
	}
	sig := abi.SIGCHLD
	if code != abi.CLD_STOPPED && code != abi.CLD_CONTINUED {
		sig = p.exitSignal
	}
	if sig == 0 {
		return
	}
	info := abi.Siginfo{Signo: int32(sig), Code: code}
	user, system := p.used().Ticks()
	info.SetChild(uint32(p.PID), 0, int32(status), user, system)
	parent.send(&info)
}
