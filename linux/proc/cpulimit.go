package proc

import (
	"time"

	"sonde/kernel/abi"
)

// RLIMIT_CPU: a process that has used that many seconds of CPU time gets SIGXCPU, then
// again each second, and at the upper limit it is killed.
//
// Source: Linux, getrlimit(2), "RLIMIT_CPU".

// watchCPU looks after the limit as it is now. mu held.
func (p *Process) watchCPU() {
	if p.cpuLimit == nil {
		p.cpuLimit = &ticker{clock: p.cpuTime, cpu: true, fire: func(int) bool { p.overCPU(); return false }}
	}
	l := p.limits[abi.RLIMIT_CPU]
	if l == unlimited || p.exiting {
		p.cpuLimit.stop()
		return
	}
	p.cpuLimit.set(p.table, max(seconds(min(l.Cur, l.Max))-p.cpuTime(), 1), 0)
}

// overCPU is called when the limit is reached. As in Linux the lower limit then is a second
// more, which the program can see. mu held.
func (p *Process) overCPU() {
	l, used := &p.limits[abi.RLIMIT_CPU], p.cpuTime()
	switch {
	case used >= seconds(l.Max):
		p.beginExit(Killed(abi.SIGKILL))
	case used >= seconds(l.Cur):
		p.send(signalOf(abi.SIGXCPU))
		l.Cur++
	}
	p.watchCPU()
}

// cpuTime is what p has used. mu held.
func (p *Process) cpuTime() time.Duration { return p.used().CPU() }

// seconds is n seconds, at most what a Duration holds: nearly three centuries.
func seconds(n uint64) time.Duration {
	const most = 1 << 33
	return time.Duration(min(n, most)) * time.Second
}
