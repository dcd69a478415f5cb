package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// Information about programs: each expected value was observed on Linux.

// TestCloneThatFailsMakesNoProcess: neither a zombie nor a descriptor is left over.
func TestCloneThatFailsMakesNoProcess(t *testing.T) {
	run(t, func(p *player) {
		a := abi.CloneArgs{Flags: abi.CLONE_PIDFD, PidFD: 8, ExitSignal: abi.SIGCHLD}
		p.Poke(scratch, abi.Bytes(&a))
		never := func(*player) { t.Error("the child ran") }
		want(t, p, "a bad address", p.Fork(never, nClone3, scratch, uint64(len(abi.Bytes(&a)))), errno(sys.EFAULT))
		want(t, p, "wait", p.Call(nWait4, minus, 0, 0, 0), errno(sys.ECHILD))
		want(t, p, "descriptor", p.Call(nClose, 0), errno(sys.EBADF))
		want(t, p, "prlimit", limitTo(p, 0, abi.RLIMIT_NPROC, 1), 0)
		a.PidFD = scratch + 0x800
		p.Poke(scratch, abi.Bytes(&a))
		want(t, p, "one too many", p.Fork(never, nClone3, scratch, uint64(len(abi.Bytes(&a)))), errno(sys.EAGAIN))
		want(t, p, "descriptor", p.Call(nClose, 0), errno(sys.EBADF))
	})
}

// TestResetHandlerKeepsTheRest: only the handler is reset; sigaction still returns flags and mask.
func TestResetHandlerKeepsTheRest(t *testing.T) {
	runs := 0
	s := run(t, func(p *player) {
		told := func() (a abi.Sigaction) {
			p.Call(nSigaction, abi.SIGUSR1, 0, scratch, 8)
			copy(abi.Bytes(&a), p.Peek(scratch, len(abi.Bytes(&a))))
			return a
		}
		const flags, mask = abi.SA_SIGINFO | abi.SA_RESETHAND | abi.SA_RESTART, 1 << (abi.SIGUSR2 - 1)
		action(p, abi.SIGUSR1, func(p *player, _, _, _ uint64) {
			runs++
			if a := told(); a.Handler != abi.SIG_DFL || a.Flags != flags|abi.SA_RESTORER || a.Mask != mask {
				t.Errorf("in the handler %+v", a)
			}
		}, flags, mask)
		p.Call(nKill, 2, abi.SIGUSR1)
		if a := told(); a.Handler != abi.SIG_DFL || a.Flags != flags|abi.SA_RESTORER || a.Mask != mask {
			t.Errorf("afterwards %+v", a)
		}
		p.Call(nKill, 2, abi.SIGUSR1)
	})
	if runs != 1 || s != proc.Killed(abi.SIGUSR1) {
		t.Errorf("the handler ran %d times, status %#x", runs, s)
	}
}

// TestFaultTellsNothingOfTheKernel: addresses that only the kernel has mapped look unmapped.
func TestFaultTellsNothingOfTheKernel(t *testing.T) {
	const kernels = 1<<47 + 0x1000
	run(t, func(p *player) {
		var code uint64
		action(p, abi.SIGSEGV, func(p *player, _, info, context uint64) {
			var u abi.Ucontext
			copy(abi.Bytes(&u), p.Peek(context, 304))
			code = u.Context.Err
			want(t, p, "si_code", int64(siginfoAt(p, info).Code), abi.SEGV_MAPERR)
		}, abi.SA_SIGINFO, 0)
		for _, f := range []struct{ addr, code, want uint64 }{
			{kernels, 4, 5}, {kernels, 5, 5}, {kernels, 6, 7}, {kernels, 7, 7},
			{8, 4, 4}, {0x123000, 6, 6},
		} {
			p.Fault(14, f.code, f.addr)
			if code != f.want {
				t.Errorf("at %#x, code %d: the program sees %d, want %d", f.addr, f.code, code, f.want)
			}
		}
	})
}

// compute uses CPU time, and takes signals meanwhile, until done returns true.
func compute(p *player, done func() bool) {
	for end := time.Now().Add(long); !done() && time.Now().Before(end); {
		p.Interrupt()
	}
}

// TestCPULimit: a signal at the soft limit and each second after it, the end at the hard limit.
// Children inherit the limit, and count their own time.
func TestCPULimit(t *testing.T) {
	var soft []int64
	s := run(t, func(p *player) {
		for _, c := range []struct{ low, high uint64 }{{0, 1}, {0, abi.RLIM_INFINITY}} {
			p.Poke64(scratch, c.low)
			p.Poke64(scratch+8, c.high)
			soft = nil
			pid := p.Fork(func(c *player) {
				action(c, abi.SIGXCPU, func(c *player, _, _, _ uint64) {
					c.Call(nPrlimit, 0, abi.RLIMIT_CPU, 0, scratch+16)
					soft = append(soft, int64(c.Peek64(scratch+16)))
				}, 0, 0)
				want(t, c, "prlimit", c.Call(nPrlimit, 0, abi.RLIMIT_CPU, scratch, 0), 0)
				compute(c, func() bool { return len(soft) == 2 })
				c.Call(nPrlimit, 0, abi.RLIMIT_CPU, 0, scratch+16)
				c.Fork(func(*player) {}, nFork)
				c.Call(nWait4, minus, scratch, 0, 0)
				want(t, c, "a child that does nothing", int64(c.Peek32(scratch)), 0)
				c.Call(nExitGroup, 3)
			}, nFork)
			want(t, p, "wait", p.Call(nWait4, uint64(pid), scratch+32, 0, 0), pid)
			status, signals := proc.Status(p.Peek32(scratch+32)), 1
			if c.high == 1 {
				want(t, p, "status at the upper limit", int64(status), abi.SIGKILL)
			} else {
				signals = 2
				want(t, p, "status", int64(status), int64(proc.Exited(3)))
			}
			if len(soft) != signals || soft[0] != 1 || signals == 2 && soft[1] != 2 {
				t.Errorf("limits %d and %d: lower limits after the signals %v", c.low, c.high, soft)
			}
		}
	})
	if s != 0 {
		t.Errorf("status %#x", s)
	}
}

// TestCPULimitIsInherited: and it can be removed.
func TestCPULimitIsInherited(t *testing.T) {
	run(t, func(p *player) {
		want(t, p, "prlimit", limitTo(p, 0, abi.RLIMIT_CPU, 1), 0)
		p.Fork(func(c *player) { compute(c, func() bool { return false }) }, nFork)
		p.Call(nWait4, minus, scratch, 0, 0)
		want(t, p, "the child", int64(p.Peek32(scratch)), abi.SIGKILL)
		want(t, p, "no limit", limitTo(p, 0, abi.RLIMIT_CPU, abi.RLIM_INFINITY), 0)
		end := time.Now().Add(1200 * time.Millisecond)
		compute(p, func() bool { return time.Now().After(end) })
	})
}

// TestGroups: a process has the supplementary groups that it sets, in order, and its children have them, too.
func TestGroups(t *testing.T) {
	const nGet, nSet = 115, 116
	run(t, func(p *player) {
		want(t, p, "none", p.Call(nGet, 0, 0), 0)
		p.Poke64(scratch, 7<<32)
		want(t, p, "root's", p.Call(nSet, 1, scratch), 0)
		want(t, p, "one", p.Call(nGet, 0, 0), 1)
		p.Poke64(scratch, 3<<32|7)
		want(t, p, "two", p.Call(nSet, 2, scratch), 0)
		p.Poke64(scratch, 0)
		want(t, p, "get", p.Call(nGet, 8, scratch), 2)
		want(t, p, "in order", int64(p.Peek64(scratch)), 7<<32|3)
		want(t, p, "too little room", p.Call(nGet, 1, scratch), errno(sys.EINVAL))
		want(t, p, "negative room", p.Call(nGet, minus, scratch), errno(sys.EINVAL))
		want(t, p, "get to nowhere", p.Call(nGet, 8, 8), errno(sys.EFAULT))
		want(t, p, "set from nowhere", p.Call(nSet, 2, 8), errno(sys.EFAULT))
		want(t, p, "too many", p.Call(nSet, 65537, scratch), errno(sys.EINVAL))
		p.Poke64(scratch, minus)
		want(t, p, "no group", p.Call(nSet, 1, scratch), errno(sys.EINVAL))
		p.Fork(func(c *player) { want(t, c, "the child's", c.Call(nGet, 0, 0), 2) }, nFork)
		p.Call(nWait4, minus, scratch, 0, 0)
		want(t, p, "forget", p.Call(nSet, 0, 0), 0)
		want(t, p, "none again", p.Call(nGet, 0, 0), 0)
	})
}

// TestLengthsThatWrap: rounded up to pages, they are none.
func TestLengthsThatWrap(t *testing.T) {
	run(t, func(p *player) {
		const anonymous = abi.MAP_PRIVATE | abi.MAP_ANONYMOUS
		for _, n := range []uint64{1 << 63, minus &^ 0xfff, minus - 7, minus} {
			want(t, p, "mmap", p.Call(nMmap, 0, n, 3, anonymous, minus, 0), errno(sys.ENOMEM))
			want(t, p, "mprotect", p.Call(10, proctest.Data, n, 3), errno(sys.ENOMEM))
			want(t, p, "munmap", p.Call(nMunmap, proctest.Data, n), errno(sys.EINVAL))
		}
		want(t, p, "no address for mprotect", p.Call(10, proctest.Data+1, minus, 3), errno(sys.EINVAL))
		want(t, p, "an offset without a file", min(p.Call(nMmap, 0, 8192, 3, anonymous, minus, minus&^0xfff), 0), 0)
	})
}

// TestAffinity: a thread's affinity is stored, returned and inherited.
func TestAffinity(t *testing.T) {
	const nSet, nGet, nGetcpu = 203, 204, 309
	old := System.CPUs
	System.CPUs = func() int { return 4 }
	t.Cleanup(func() { System.CPUs = old })
	bind := func(p *player, pid int64, mask uint64) int64 {
		p.Poke64(scratch, mask)
		return p.Call(nSet, uint64(pid), 8, scratch)
	}
	bound := func(p *player, pid int64) int64 {
		want(t, p, "getaffinity", p.Call(nGet, uint64(pid), 8, scratch), 8)
		return int64(p.Peek64(scratch))
	}
	run(t, func(p *player) {
		want(t, p, "at first", bound(p, 0), 0xf)
		want(t, p, "empty", bind(p, 0, 0), errno(sys.EINVAL))
		want(t, p, "none of ours", bind(p, 0, 0xf0), errno(sys.EINVAL))
		want(t, p, "nobody", bind(p, 12345, 1), errno(sys.ESRCH))
		want(t, p, "no mask", p.Call(nSet, 0, 8, 8), errno(sys.EFAULT))
		want(t, p, "still", bound(p, 0), 0xf)
		want(t, p, "two, and one that is not there", bind(p, 0, 0x1c), 0)
		want(t, p, "two", bound(p, 0), 0xc)
		want(t, p, "getcpu", p.Call(nGetcpu, scratch, 0, 0), 0)
		want(t, p, "here", int64(p.Peek32(scratch)), 2)
		want(t, p, "room for too few", p.Call(nGet, 0, 4, scratch), errno(sys.EINVAL))
		asked := make(chan bool)
		pid := p.Fork(func(c *player) {
			if got := bound(c, 0); got != 0xc {
				t.Errorf("a child's: %#x", got)
			}
			close(asked)
			c.Call(nPause)
		}, nFork)
		<-asked
		want(t, p, "another's", bind(p, pid, 2), 0)
		want(t, p, "another's", bound(p, pid), 2)
		want(t, p, "its own", bound(p, 0), 0xc)
		want(t, p, "all again", bind(p, 0, ^uint64(0)), 0)
		want(t, p, "all", bound(p, 0), 0xf)
		p.Call(nKill, uint64(pid), abi.SIGKILL)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
	})
}
