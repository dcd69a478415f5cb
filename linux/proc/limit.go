package proc

import (
	"math"
	"syscall"

	"sonde/kernel/abi"
	"sonde/linux/space"
)

// Limits are a process's resource limits.
type Limits [abi.NumRlimits]abi.Rlimit

// unlimited means no limit.
var unlimited = abi.Rlimit{Cur: abi.RLIM_INFINITY, Max: abi.RLIM_INFINITY}

// DefaultLimits are the limits of the first process. threads is how many threads this
// machine can have.
func DefaultLimits(threads uint64) (l Limits) {
	for i := range l {
		l[i] = unlimited
	}
	l[abi.RLIMIT_STACK].Cur = 8 << 20
	l[abi.RLIMIT_CORE].Cur = 0
	l[abi.RLIMIT_NPROC] = abi.Rlimit{Cur: threads, Max: threads}
	l[abi.RLIMIT_NOFILE] = abi.Rlimit{Cur: 1024, Max: 4096}
	l[abi.RLIMIT_MEMLOCK].Cur = 8 << 20 // programs that load eBPF raise it
	l[abi.RLIMIT_SIGPENDING] = abi.Rlimit{Cur: 4096, Max: 4096}
	l[abi.RLIMIT_MSGQUEUE] = abi.Rlimit{Cur: 819200, Max: 819200}
	l[abi.RLIMIT_NICE] = abi.Rlimit{}
	l[abi.RLIMIT_RTPRIO] = abi.Rlimit{}
	return l
}

// Limit returns a limit of p.
//
// Errors: EINVAL for an invalid number.
func (p *Process) Limit(which int) (abi.Rlimit, error) {
	if which < 0 || which >= abi.NumRlimits {
		return abi.Rlimit{}, syscall.EINVAL
	}
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.limits[which], nil
}

// FileLimit returns how long p may make a file, in bytes, and whether there is a limit.
// Each write calls it, so it takes no lock.
func (p *Process) FileLimit() (n int64, ok bool) {
	above := p.fileLimit.Load()
	return int64(min(above-1, math.MaxInt64)), above != 0
}

// SetLimit changes a limit of p. Every process is root and may raise the upper limit, but
// not beyond that of the kernel's process, which cannot be changed: this keeps the machine
// usable. A limit of memory applies to all processes that share it.
//
// Errors: EINVAL, EPERM.
func (p *Process) SetLimit(which int, to abi.Rlimit) error {
	if which < 0 || which >= abi.NumRlimits || to.Cur > to.Max {
		return syscall.EINVAL
	}
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if init := p.table.init; p == init || to.Max > init.limits[which].Max {
		return syscall.EPERM
	}
	p.limits[which] = to
	if which == abi.RLIMIT_FSIZE {
		p.fileLimit.Store(to.Cur + 1)
	}
	if which == abi.RLIMIT_CPU {
		p.watchCPU()
	}
	if m := p.mem.Load(); m != nil {
		m.SetLimits(p.limits.memory())
	}
	return nil
}

// memory returns those that bound an address space.
func (l *Limits) memory() space.Limits {
	return space.Limits{AS: l[abi.RLIMIT_AS].Cur, Data: l[abi.RLIMIT_DATA].Cur, Stack: l[abi.RLIMIT_STACK].Cur}
}
