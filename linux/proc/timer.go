package proc

import (
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/linux/signal"
)

// Timer is a POSIX timer: timer_create.
type Timer struct {
	ID      int
	process *Process
	ticker  ticker
	signal  int     // 0: none
	thread  *Thread // that gets the signal; nil: any thread of the process
	value   uint64
	late    int // times that it would have fired more when it sent its signal
	overrun int // the same when that was delivered

	// Clock reads the clock of TIMER_ABSTIME's times; set by the maker.
	Clock func() (time.Duration, error)
}

// TimerSpec says what a timer counts and what it does.
type TimerSpec struct {
	CPU    func() time.Duration // the clock, called with mu held; nil: real time
	Signal int                  // 0: none
	TID    int                  // the thread of the process that gets it; 0: any
	Value  uint64               // for the signal, which the program knows it by
	UseID  bool                 // the timer's number is the value
}

// CPUTime returns a clock for a TimerSpec: what a process has used or, with t, one thread.
func (p *Process) CPUTime(t *Thread) func() time.Duration {
	if t != nil {
		return func() time.Duration { return t.Usage().CPU() }
	}
	return func() time.Duration { return p.used().CPU() }
}

// NewTimer makes a timer that is not set.
//
// Errors: EINVAL no such signal or thread; EAGAIN beyond RLIMIT_SIGPENDING.
func (p *Process) NewTimer(s TimerSpec) (*Timer, error) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	tm := &Timer{ID: p.nextTimer, process: p, signal: s.Signal, value: s.Value}
	tm.ticker = ticker{clock: wallTime, fire: tm.fire}
	if s.CPU != nil {
		tm.ticker.clock, tm.ticker.cpu = s.CPU, true
	}
	if s.TID != 0 {
		tm.thread = p.table.threads[s.TID]
		if tm.thread == nil || tm.thread.process != p {
			return nil, syscall.EINVAL
		}
	}
	if s.Signal != 0 && !signal.Valid(s.Signal) {
		return nil, syscall.EINVAL
	}
	if uint64(len(p.timers)) >= p.limits[abi.RLIMIT_SIGPENDING].Cur {
		return nil, syscall.EAGAIN
	}
	if s.UseID {
		tm.value = uint64(tm.ID)
	}
	if p.timers == nil {
		p.timers = make(map[int]*Timer)
	}
	p.timers[tm.ID] = tm
	p.nextTimer = (p.nextTimer + 1) & (1<<31 - 1)
	for p.timers[p.nextTimer] != nil {
		p.nextTimer++
	}
	return tm, nil
}

// Timer returns the timer of that number.
//
// Errors: EINVAL.
func (p *Process) Timer(id int) (*Timer, error) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if tm := p.timers[id]; tm != nil {
		return tm, nil
	}
	return nil, syscall.EINVAL
}

// Set makes tm fire after value, and then at intervals; 0 means never, a negative value a time that is
// over. It returns the previous setting.
func (tm *Timer) Set(value, interval time.Duration) (oldValue, oldInterval time.Duration) {
	t := tm.process.table
	t.mu.Lock()
	defer t.mu.Unlock()
	oldValue, oldInterval = tm.ticker.left()
	if tm.process.timers[tm.ID] == tm { // it has not been deleted meanwhile
		tm.overrun = 0
		tm.ticker.set(t, value, interval)
	}
	return oldValue, oldInterval
}

// Left returns the time until tm fires, and the interval after that.
func (tm *Timer) Left() (value, interval time.Duration) {
	tm.process.table.mu.Lock()
	defer tm.process.table.mu.Unlock()
	return tm.ticker.left()
}

// Overrun returns how often tm would have fired more until its last signal was delivered.
func (tm *Timer) Overrun() int { return lock.Get(&tm.process.table.mu, &tm.overrun) }

// Delete deletes tm. If its signal is pending, it is still delivered.
func (tm *Timer) Delete() {
	tm.process.table.mu.Lock()
	defer tm.process.table.mu.Unlock()
	tm.ticker.stop()
	delete(tm.process.timers, tm.ID)
}

// dropTimers deletes all timers, for exec and the end. mu held.
func (p *Process) dropTimers() {
	for _, tm := range p.timers {
		tm.ticker.stop()
	}
	p.timers, p.nextTimer = nil, 0
}

// mostOverruns is DELAYTIMER_MAX.
const mostOverruns = 1<<31 - 1

// fire sends the signal. The timer is held until that is taken, and fires no more until then:
// what it would have done is counted, too if the timer was set again meanwhile. mu held.
func (tm *Timer) fire(times int) (hold bool) {
	if tm.signal == 0 {
		return false
	}
	if tm.pending() {
		tm.late = min(tm.late+times, mostOverruns)
		return true
	}
	info := abi.Siginfo{Signo: int32(tm.signal), Code: abi.SI_TIMER}
	tm.late = min(times-1, mostOverruns)
	info.SetTimer(int32(tm.ID), int32(tm.late), tm.value)
	if tm.thread != nil {
		tm.thread.send(&info)
	} else {
		tm.process.send(&info)
	}
	return tm.pending()
}

// pending reports whether tm's signal has been sent but not taken. mu held.
func (tm *Timer) pending() bool {
	q := &tm.process.pending
	if tm.thread != nil {
		q = &tm.thread.pending
	}
	return q.Find(func(i *abi.Siginfo) bool { return i.Code == abi.SI_TIMER && i.Timer() == int32(tm.ID) }) != nil
}

// timerTaken lets the timer continue that sent a signal which is being delivered, and returns that with
// how often it would have fired meanwhile. mu held.
func (p *Process) timerTaken(info abi.Siginfo) abi.Siginfo {
	if tm := p.timers[int(info.Timer())]; tm != nil {
		tm.overrun = min(tm.late+tm.ticker.release(), mostOverruns)
		info.SetTimer(int32(tm.ID), int32(tm.overrun), tm.value)
	}
	return info
}

// releaseTimers lets those continue whose signals were dropped. mu held.
func (p *Process) releaseTimers() {
	for _, tm := range p.timers {
		tm.ticker.release()
	}
	p.alarmTaken()
}
