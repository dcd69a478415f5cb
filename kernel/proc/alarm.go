package proc

import (
	"time"

	"sonde/kernel/abi"
)

// realTimer is a process's ITIMER_REAL, which alarm sets, too.
type realTimer struct {
	timer    *time.Timer
	end      time.Time
	interval time.Duration
}

// SetAlarm sends SIGALRM after value, and then again and again at intervals; 0 means
// never. It returns what was set before.
func (p *Process) SetAlarm(value, interval time.Duration) (oldValue, oldInterval time.Duration) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	oldValue, oldInterval = p.alarmLeft()
	if p.alarm != nil {
		p.alarm.timer.Stop()
		p.alarm = nil
	}
	if value > 0 && p.state == alive {
		a := &realTimer{end: time.Now().Add(value), interval: interval}
		a.timer = time.AfterFunc(value, func() { p.ring(a) })
		p.alarm = a
	}
	return oldValue, oldInterval
}

// Alarm returns how long it is until SIGALRM, and the interval after that.
func (p *Process) Alarm() (value, interval time.Duration) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.alarmLeft()
}

// alarmLeft is Alarm with mu held. What is set is never 0, which would mean never.
func (p *Process) alarmLeft() (value, interval time.Duration) {
	if p.alarm == nil {
		return 0, 0
	}
	return max(time.Until(p.alarm.end), time.Microsecond), p.alarm.interval
}

// ring is the end of a's time, unless another was set meanwhile.
func (p *Process) ring(a *realTimer) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.alarm != a {
		return
	}
	p.send(SignalOf(abi.SIGALRM))
	if a.interval == 0 {
		p.alarm = nil
		return
	}
	a.end = a.end.Add(a.interval)
	if now := time.Now(); a.end.Before(now) {
		a.end = now // it cannot keep up, and need not try
	}
	a.timer.Reset(max(time.Until(a.end), 100*time.Microsecond))
}

// stopAlarm is for the end of p.
func (p *Process) stopAlarm() { p.SetAlarm(0, 0) }
