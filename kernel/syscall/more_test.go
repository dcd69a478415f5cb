package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/proc"
	"sonde/kernel/proc/proctest"
)

// What breaking the mechanisms one by one has shown to be untested.

func TestWaitidCanLeaveTheZombie(t *testing.T) {
	run(t, func(p *player) {
		pid := p.Fork(func(c *player) { c.Call(nExitGroup, 6) }, nFork)
		for range 2 {
			want(t, p, "waitid", p.Call(nWaitid, abi.P_ALL, 0, scratch, abi.WEXITED|abi.WNOWAIT, 0), 0)
			var i abi.Siginfo
			copy(abi.Bytes(&i), p.Peek(scratch, 128))
			want(t, p, "status", int64(i.Status()), 6)
		}
		want(t, p, "wait4", p.Call(nWait4, ^uint64(0), 0, 0, 0), pid)
	})
}

// TestRedZoneIsKept: a function's bytes below SP survive a handler.
func TestRedZoneIsKept(t *testing.T) {
	run(t, func(p *player) {
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) {}, 0, 0)
		sp := p.Regs().SP - 0x38 // 128 bytes lower is no multiple of 64
		p.Regs().SP = sp
		for off := uint64(8); off <= 128; off += 8 {
			p.Poke64(sp-off, off)
		}
		p.Call(nKill, 2, abi.SIGUSR1)
		for off := uint64(8); off <= 128; off += 8 {
			want(t, p, "below SP", int64(p.Peek64(sp-off)), int64(off))
		}
	})
}

// TestForgedFrame: a handler that leaves an address beyond a program's end dies.
func TestForgedFrame(t *testing.T) {
	s := run(t, func(p *player) {
		action(p, abi.SIGUSR1, func(p *player, _, _, context uint64) {
			const ipAt = 40 + 16*8 // in ucontext
			p.Poke64(context+ipAt, 1<<63)
		}, abi.SA_SIGINFO, 0)
		p.Call(nKill, 2, abi.SIGUSR1)
	})
	if s != proc.Killed(abi.SIGSEGV) {
		t.Errorf("status %#x", s)
	}
}

// TestForkKeepsMaskAndStack: a child of fork has its parent's mask and stack for
// handlers; a program after exec has none of its handlers.
func TestForkKeepsMaskAndStack(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/after", func(p *player) {
		p.Call(nSigaction, abi.SIGUSR1, 0, scratch, 8)
		want(t, p, "handler after exec", int64(p.Peek64(scratch)), abi.SIG_DFL)
		p.Call(nSigmask, abi.SIG_BLOCK, 0, scratch, 8)
		want(t, p, "mask after exec", int64(p.Peek64(scratch)), 1<<(abi.SIGUSR2-1))
	})
	p := begin(t, w, func(p *player) {
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) {}, 0, 0)
		st := abi.Stack{SP: proctest.Data + 0x4000, Size: 0x4000}
		p.Poke(scratch, abi.Bytes(&st))
		p.Call(nAltstack, scratch, 0)
		p.Poke64(scratch, 1<<(abi.SIGUSR2-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		p.Fork(func(c *player) {
			c.Call(nAltstack, 0, scratch)
			want(t, c, "stack for handlers", int64(c.Peek64(scratch)), int64(st.SP))
			c.PokeString(scratch, "/bin/after")
			c.Call(nExecve, scratch, 0, 0)
			t.Error("exec returned")
		}, nVfork) // the parent goes on when the child has another program
		p.Call(nWait4, ^uint64(0), scratch, 0, 0)
		want(t, p, "status", int64(p.Peek32(scratch)), 0)
	})
	if s := finish(t, w, p); s != 0 {
		t.Errorf("status %#x", s)
	}
}

func TestWriteWithoutReaderIsSIGPIPE(t *testing.T) {
	s := run(t, func(p *player) {
		p.Call(nPipe, scratch)
		p.Call(nClose, uint64(p.Peek32(scratch)))
		ignore(p, abi.SIGPIPE)
		wfd := uint64(p.Peek32(scratch + 4))
		want(t, p, "write, ignored", p.Call(nWrite, wfd, scratch, 1), errno(sys.EPIPE))
		p.Poke(proctest.Data, abi.Bytes(&abi.Sigaction{}))
		p.Call(nSigaction, abi.SIGPIPE, proctest.Data, 0, 8)
		p.Call(nWrite, wfd, scratch, 1)
	})
	if s != proc.Killed(abi.SIGPIPE) {
		t.Errorf("status %#x", s)
	}
}

// TestContinueDropsWaitingStops: a stop that is blocked is forgotten by SIGCONT.
func TestContinueDropsWaitingStops(t *testing.T) {
	s := run(t, func(p *player) {
		p.Poke64(scratch, 1<<(abi.SIGTSTP-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		p.Call(nKill, 2, abi.SIGTSTP)
		p.Call(nKill, 2, abi.SIGCONT)
		p.Call(nSigpending, scratch+8, 8)
		want(t, p, "pending", int64(p.Peek64(scratch+8)), 0)
	})
	if s != 0 {
		t.Errorf("status %#x", s)
	}
}

// TestIntervalTimer: it comes again and again.
func TestIntervalTimer(t *testing.T) {
	const nSetitimer = 38
	run(t, func(p *player) {
		n := 0
		action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) { n++ }, 0, 0)
		ms := abi.Timeval{Usec: 1000}
		p.Poke(scratch, abi.Bytes(&abi.Itimerval{Interval: ms, Value: ms}))
		p.Call(nSetitimer, abi.ITIMER_REAL, scratch, 0)
		for end := time.Now().Add(long); n < 3 && time.Now().Before(end); {
			p.Call(nPause)
		}
		want(t, p, "it rang at least", min(int64(n), 3), 3)
	})
}

// TestRobustList: a lock whose owner has ended says so.
func TestRobustList(t *testing.T) {
	const nSetRobustList, lockAt = 273, scratch + 0x100
	run(t, func(p *player) {
		const flags = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD
		p.Fork(func(c *player) {
			tid := c.Call(nGettid)
			c.Poke32(lockAt+8, uint32(tid)|abi.FUTEX_WAITERS)
			c.Poke64(lockAt, scratch) // the list: head, lock, head
			c.Poke(scratch, abi.Bytes(&abi.RobustListHead{List: lockAt, Offset: 8}))
			want(t, c, "set_robust_list", c.Call(nSetRobustList, scratch, 24), 0)
			c.Call(nExit, 0)
		}, nClone, flags, proctest.StackTop-4096)
		for end := time.Now().Add(long); p.Peek32(lockAt+8) != abi.FUTEX_OWNER_DIED|abi.FUTEX_WAITERS; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the lock's word is %#x", p.Peek32(lockAt+8))
			}
		}
	})
}
