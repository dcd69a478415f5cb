package proc

import (
	"time"

	"sonde/kernel/abi"
	"sonde/linux/signal"
)

// verdict is what ready has found to do next.
type verdict int

const (
	goAhead verdict = iota
	endThread
	park
	tell
	handle
)

// ready does what is necessary before the program continues: it ends the thread, stops it,
// delivers signals, restarts an interrupted call. It returns false if the thread must end.
func (t *Thread) ready() bool {
	for t.work.Swap(false) {
		if t.away() {
			t.work.Store(true)
			return !t.dying()
		}
		v, act := t.decide()
		switch v {
		case endThread:
			return false
		case park:
			t.park()
		case tell:
			t.tellAndDeliver()
		case handle:
			t.handle(act)
			continue // it sets work if there is more
		case goAhead:
			t.finishCall()
			continue
		}
		t.work.Store(true) // there may be more
	}
	return true
}

// decide finds the next thing to do, and does it if it needs no memory. A signal is in t.info then.
func (t *Thread) decide() (verdict, abi.Sigaction) {
	p := t.process
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	t.takeAsked()
	for {
		switch {
		case t.leaving, p.exiting, p.execing != nil && p.execing != t:
			return endThread, abi.Sigaction{}
		case p.stopped != 0:
			return park, abi.Sigaction{}
		}
		if !t.dequeue(t.blocked, &t.info) {
			return goAhead, abi.Sigaction{}
		}
		if p.attached() != nil {
			t.taken = int(t.info.Signo)
			return tell, abi.Sigaction{}
		}
		if act, caught := t.deliver(int(t.info.Signo)); caught {
			return handle, act
		}
	}
}

// deliver does the default action of signal n, which t has taken, or returns the handler to call. mu held.
func (t *Thread) deliver(n int) (act abi.Sigaction, caught bool) {
	p := t.process
	if !p.actions.Caught(n) || n == abi.SIGKILL || n == abi.SIGSTOP {
		t.byDefault(n)
		return act, false
	}
	act = p.actions.Actions[n]
	if act.Flags&abi.SA_RESETHAND != 0 {
		p.actions.Actions[n].Handler = abi.SIG_DFL // flags and mask stay, as sigaction tells
	}
	return act, true
}

// tellAndDeliver delivers a signal after the engines have seen it. Meanwhile a SIGCONT may
// have come, which cancels a stop, or the reverse.
func (t *Thread) tellAndDeliver() {
	if act, caught := t.deliverTold(int(t.info.Signo), t.tellSignal(t.info)); caught {
		t.handle(act)
	}
}

// deliverTold is deliver for a signal that engines know of, unless it is to be dropped.
func (t *Thread) deliverTold(n int, drop bool) (act abi.Sigaction, caught bool) {
	p := t.process
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	drop = drop || t.taken == 0
	t.taken = 0
	if drop {
		return act, false
	}
	return t.deliver(n)
}

// dequeue removes the next signal from the queues, and stores it in info. mu held.
func (t *Thread) dequeue(blocked signal.Set, info *abi.Siginfo) bool {
	if !t.pending.Take(blocked, info) && !t.process.pending.Take(blocked, info) {
		return false
	}
	if info.Code == abi.SI_TIMER {
		*info = t.process.timerTaken(*info)
	}
	if info.Signo == abi.SIGALRM {
		t.process.alarmTaken()
	}
	return true
}

// byDefault does what happens without a handler. mu held.
func (t *Thread) byDefault(n int) {
	p := t.process
	if p.actions.Ignored(n) {
		return
	}
	switch signal.DefaultOf(n) {
	case signal.Core:
		t.beginDump()
		p.beginExit(Killed(n))
	case signal.Terminate:
		p.beginExit(Killed(n))
	case signal.Stop:
		if n == abi.SIGSTOP || !p.group.orphaned() {
			p.stop(n)
		}
	}
}

// handle makes the program run its handler of the signal in t.info. If there is no space for the
// frame, the program dies as if it had written there itself.
//
// Context: t's goroutine, which is the only one that changes t.blocked.
func (t *Thread) handle(act abi.Sigaction) {
	t.interruptCall(act)
	n, held := int(t.info.Signo), t.blocked
	mask := held
	if t.unmask != nil {
		mask, t.unmask = *t.unmask, nil
	}
	if err := t.pushFrame(act, mask); err != nil {
		t.force(SignalOf(abi.SIGSEGV), n == abi.SIGSEGV)
		return
	}
	held |= signal.Set(act.Mask)
	if act.Flags&abi.SA_NODEFER == 0 {
		held |= signal.One(n)
	}
	t.SetBlocked(held)
}

// interruptCall decides what the system call does that a handler interrupts: it returns
// EINTR, or is restarted after the handler.
func (t *Thread) interruptCall(act abi.Sigaction) {
	if t.again == RestartSys && act.Flags&abi.SA_RESTART != 0 {
		t.rewind()
	}
	t.again, t.deadline = NoRestart, time.Time{} // which is not that of the handler's calls
}

// finishCall restarts a call that was interrupted by something without a handler: a stop,
// or a signal that another thread took.
func (t *Thread) finishCall() {
	if t.again != NoRestart {
		t.rewind()
		t.again = NoRestart
		return // the call is still to have its mask and its deadline
	}
	if t.unmask != nil {
		t.restoreMask()
	}
}

// restoreMask ends BlockUntilDelivered.
func (t *Thread) restoreMask() {
	t.SetBlocked(*t.unmask)
	t.unmask = nil
}

// syscallLen is the length of the instruction SYSCALL.
const syscallLen = 2

// rewind lets the program make its system call again.
func (t *Thread) rewind() {
	r := t.Regs()
	r.IP -= syscallLen
	r.AX = t.call
}

// force gives t a signal that it cannot refuse, because its own instruction caused it: if
// it blocks or ignores the signal, or if reset is true, the default action is taken.
func (t *Thread) force(info abi.Siginfo, reset bool) {
	p, n := t.process, int(info.Signo)
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if t.blocked.Has(n) || p.actions.Ignored(n) || reset {
		p.actions.Actions[n].Handler = abi.SIG_DFL
		t.blocked &^= signal.Of(n)
	}
	t.pending.Add(&info)
	t.work.Store(true)
}

// Action returns p's action for a signal and, if set is not nil, changes it.
func (p *Process) Action(n int, set *abi.Sigaction) (old abi.Sigaction) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	a := &p.actions.Actions
	old = a[n]
	if set != nil {
		a[n] = *set
		a[n].Mask &^= uint64(signal.Unblockable)
		if a.Ignored(n) {
			p.unqueue(signal.Of(n))
		}
	}
	return old
}
