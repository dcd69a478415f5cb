package proc

import (
	"time"

	"sonde/kernel/abi"
)

// itimers are the three timers of setitimer. They count real time, the time that the
// program runs, and that plus the time that the kernel runs for it.
var itimers = [3]struct {
	signal int
	clock  func(p *Process) time.Duration // mu held; nil: time that passes
}{
	abi.ITIMER_REAL:    {abi.SIGALRM, nil},
	abi.ITIMER_VIRTUAL: {abi.SIGVTALRM, func(p *Process) time.Duration { return p.used().User }},
	abi.ITIMER_PROF:    {abi.SIGPROF, func(p *Process) time.Duration { return p.used().CPU() }},
}

// SetTimer makes one of the process's interval timers send its signal after value, and then
// at intervals; 0 means never. It returns the previous setting.
func (p *Process) SetTimer(which int, value, interval time.Duration) (oldValue, oldInterval time.Duration) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	oldValue, oldInterval = p.itimers[which].left()
	if p.state != alive {
		return 0, 0
	}
	if p.itimers[which] == nil {
		kind := itimers[which]
		k := &ticker{clock: wallTime, fire: func(int) bool { return p.sendTimed(kind.signal) }}
		if kind.clock != nil {
			k.clock, k.cpu = func() time.Duration { return kind.clock(p) }, true
		}
		p.itimers[which] = k
	}
	p.itimers[which].set(p.table, value, interval)
	return oldValue, oldInterval
}

// sendTimed sends the signal of an interval timer. One of real time is held until the program takes a
// SIGALRM, whoever sent that, as on Linux. mu held.
func (p *Process) sendTimed(sig int) (hold bool) {
	p.send(signalOf(sig))
	return sig == abi.SIGALRM && p.pending.Find(func(i *abi.Siginfo) bool { return i.Signo == abi.SIGALRM }) != nil
}

// alarmTaken lets the interval timer of real time continue. mu held.
func (p *Process) alarmTaken() {
	if k := p.itimers[abi.ITIMER_REAL]; k != nil {
		k.release()
	}
}

// TimerLeft returns how long it is until the signal, and the interval after that.
func (p *Process) TimerLeft(which int) (value, interval time.Duration) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.itimers[which].left()
}

// stopTimers stops all timers at the end of p.
func (p *Process) stopTimers() {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	for i, k := range p.itimers {
		if k != nil {
			k.stop()
		}
		p.itimers[i] = nil
	}
	if p.cpuLimit != nil {
		p.cpuLimit.stop()
	}
	p.dropTimers()
}
