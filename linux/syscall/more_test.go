package syscall

import (
	"runtime"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
)

// Mechanisms that no other test covered: breaking them on purpose showed that.

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

// TestRedZoneIsKept: a handler does not change the bytes below the interrupted SP.
func TestRedZoneIsKept(t *testing.T) {
	run(t, func(p *player) {
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) {}, 0, 0)
		sp := p.Regs().SP - 0x38 // 128 bytes lower, it is not a multiple of 64
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

// TestForgedFrame: a program ends if a handler returns to an address that no program can have.
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

// TestForkKeepsMaskAndStack: a child of fork has its parent's mask and alternate stack; exec resets
// the handlers.
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
		}, nVfork) // the parent continues when the child has executed another program
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

// TestContinueDropsWaitingStops: SIGCONT drops a pending stop signal.
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

// TestIntervalTimer: it fires again and again.
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

// TestRobustList: a lock whose owner has ended is marked.
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

// TestFramesAreAligned: for any SP, a handler finds the stack aligned as the ABI demands and the
// floating-point state aligned for FXRSTOR, both below the red zone.
func TestFramesAreAligned(t *testing.T) {
	ran := 0
	run(t, func(p *player) {
		var sp uint64
		action(p, abi.SIGUSR1, func(p *player, _, _, context uint64) {
			ran++
			var u abi.Ucontext
			copy(abi.Bytes(&u), p.Peek(context, 304))
			fp, frame := u.Context.FPState, p.Regs().SP
			if frame%16 != 8 || fp%64 != 0 || fp < frame+440 || fp+abi.FPSize > sp-128 {
				t.Errorf("SP %#x: in the handler %#x, floating point at %#x", sp, frame, fp)
			}
		}, abi.SA_SIGINFO, 0)
		top := p.Regs().SP
		for sp = top - 1; sp > top-130; sp-- {
			p.Regs().SP = sp
			p.Call(nKill, 2, abi.SIGUSR1)
		}
		p.Regs().SP = top
	})
	if ran != 129 {
		t.Errorf("the handler ran %d times", ran)
	}
}

// TestHandlersStackMayBeTooSmall: no frame is pushed if it would begin below the alternate stack.
func TestHandlersStackMayBeTooSmall(t *testing.T) {
	s := run(t, func(p *player) {
		const size = 2048 // the least size that sigaltstack takes
		st := abi.Stack{SP: proctest.Data + 0x4000, Size: size}
		p.Poke(scratch, abi.Bytes(&st))
		want(t, p, "sigaltstack", p.Call(nAltstack, scratch, 0), 0)
		depth := 0
		action(p, abi.SIGUSR1, func(p *player, _, _, _ uint64) {
			if depth++; p.Regs().SP < st.SP || depth > size/440 {
				t.Errorf("handler %d: SP %#x is below %#x", depth, p.Regs().SP, st.SP)
				p.Call(nExitGroup, 1)
			}
			p.Call(nKill, 2, abi.SIGUSR1)
		}, abi.SA_ONSTACK|abi.SA_NODEFER, 0)
		p.Call(nKill, 2, abi.SIGUSR1)
	})
	if s != proc.Killed(abi.SIGSEGV) {
		t.Errorf("status %#x", s)
	}
}

// TestASignalKicks: a computing program gets a signal when its CPU is interrupted.
func TestASignalKicks(t *testing.T) {
	w := world(t)
	began, kicks := make(chan *proctest.Player, 1), int64(0)
	p := begin(t, w, func(p *player) {
		began <- p
		for {
			p.Interrupt()
			runtime.Gosched()
		}
	})
	cpu := <-began
	before := cpu.Kicks.Load()
	sendFrom(p, abi.SIGTERM)
	kicks = cpu.Kicks.Load() - before
	if s := finish(t, w, p); s != proc.Killed(abi.SIGTERM) || kicks == 0 {
		t.Errorf("status %#x, %d kicks", s, kicks)
	}
}

// TestExecForgets: a new program has neither the old one's memory nor its close-on-exec
// descriptors.
func TestExecForgets(t *testing.T) {
	w := world(t)
	var closed, kept uint64
	provide(t, w, "/bin/after", func(p *player) {
		want(t, p, "memory", int64(p.Peek32(scratch+512)), 0)
		want(t, p, "what the old program mapped", p.Call(nWrite, kept, unused, 1), errno(sys.EFAULT))
		want(t, p, "what is closed", p.Call(nClose, closed), errno(sys.EBADF))
		want(t, p, "what is kept", p.Call(nClose, kept), 0)
	})
	p := begin(t, w, func(p *player) {
		p.Poke32(scratch+512, 7)
		if _, err := p.Space.Map(unused, 4096, space.Read|space.Write, space.Fixed, nil, 0); err != nil {
			t.Error(err)
		}
		want(t, p, "pipe2", p.Call(nPipe2, scratch, abi.O_CLOEXEC), 0)
		closed = uint64(p.Peek32(scratch))
		want(t, p, "pipe", p.Call(nPipe, scratch), 0)
		kept = uint64(p.Peek32(scratch + 4))
		want(t, p, "write", p.Call(nWrite, kept, unused, 1), 1)
		p.PokeString(scratch, "/bin/after")
		p.Call(nExecve, scratch, 0, 0)
		t.Error("exec returned")
	})
	if s := finish(t, w, p); s != 0 {
		t.Errorf("status %#x", s)
	}
}

// unused is an address at which simulated programs have nothing mapped.
const unused = 0x1000_0000_0000
