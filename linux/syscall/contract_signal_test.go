package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// What signal(7), sigaction(2), fork(2), execve(2) and clone(2) specify about signals.

const aside = scratch + 0x800 // where helper functions store

// actsOn returns the program's action for a signal.
func actsOn(p *player, sig uint64) (a abi.Sigaction) {
	p.Call(nSigaction, sig, 0, aside, 8)
	copy(abi.Bytes(&a), p.Peek(aside, len(abi.Bytes(&a))))
	return a
}

// mask sets the program's signal mask.
func mask(p *player, signals ...int) {
	set := uint64(0)
	for _, n := range signals {
		set |= 1 << (n - 1)
	}
	p.Poke64(aside, set)
	p.Call(nSigmask, abi.SIG_SETMASK, aside, 0, 8)
}

// pending returns the set of pending signals.
func pending(p *player) int64 {
	p.Call(nSigpending, aside, 8)
	return int64(p.Peek64(aside))
}

// reap waits for a child, which must have ended with that status.
func reap(t *testing.T, p *player, pid int64, status proc.Status) {
	t.Helper()
	want(t, p, "wait4", p.Call(nWait4, uint64(pid), aside, 0, 0), pid)
	want(t, p, "status", int64(p.Peek32(aside)), int64(status))
}

// caught is what a handler got.
type caught struct {
	info  abi.Siginfo
	flags uint64 // of the processor, at the handler's entry
	times int
}

// catch installs a handler for a signal that records what it gets.
func catch(p *player, sig, flags uint64) *caught {
	c := new(caught)
	action(p, sig, func(p *player, _, info, _ uint64) {
		c.info, c.flags = siginfoAt(p, info), p.Regs().Flags
		c.times++
	}, flags|abi.SA_SIGINFO, 0)
	return c
}

// beginThread starts a thread of p that runs f.
func beginThread(t *testing.T, p *player, stack uint64, f proctest.Program) {
	t.Helper()
	const flags = abi.CLONE_VM | abi.CLONE_SIGHAND | abi.CLONE_THREAD
	if tid := p.Fork(f, nClone, flags, proctest.StackTop-stack, 0, 0, 0); tid < 0 {
		t.Errorf("clone: %d", tid)
	}
}

// TestSignalOutlivesTheThreadThatWasTold: a signal for the process is delivered to another thread
// if the chosen one ends first.
func TestSignalOutlivesTheThreadThatWasTold(t *testing.T) {
	w := world(t)
	computes, sent := make(chan bool), make(chan bool)
	p := begin(t, w, func(p *player) {
		action(p, abi.SIGUSR1, func(p *player, _, _, _ uint64) { p.Call(nExitGroup, 5) }, 0, 0)
		beginThread(t, p, 0x4000, func(c *player) { // becomes the first in the list
			close(computes)
			<-sent
			c.Call(nExit, 0)
		})
		beginThread(t, p, 0x8000, func(c *player) { c.Call(nPause) })
		p.Call(nExit, 0)
	})
	<-computes
	for end := time.Now().Add(long); len(p.Facts().Threads) != 2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // the second sleeps by now, which the test does not rely on
	sendFrom(p, abi.SIGUSR1)
	close(sent)
	if s := finish(t, w, p); s != proc.Exited(5) {
		t.Errorf("status %#x", s)
	}
}

// TestSignalGoesToWhoDoesNotBlockIt: the signal also wakes that thread.
func TestSignalGoesToWhoDoesNotBlockIt(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) {
		action(p, abi.SIGUSR1, func(p *player, _, _, _ uint64) { p.Call(nExitGroup, 5) }, 0, 0)
		mask(p, abi.SIGUSR1)
		beginThread(t, p, 0x4000, func(c *player) {
			c.Poke64(scratch+0x900, 0)
			c.Call(nSigmask, abi.SIG_SETMASK, scratch+0x900, 0, 8)
			c.Call(nPause)
		})
		p.Call(nPause)
	})
	for end := time.Now().Add(long); len(p.Facts().Threads) != 2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	asleep(t, p)
	sendFrom(p, abi.SIGUSR1)
	if s := finish(t, w, p); s != proc.Exited(5) {
		t.Errorf("status %#x", s)
	}
}

// TestSignalOutlivesTheMaskOfTheThreadThatWasTold: a signal for the process is delivered to another thread
// if the chosen one blocks it first.
func TestSignalOutlivesTheMaskOfTheThreadThatWasTold(t *testing.T) {
	w := world(t)
	computes, sent := make(chan bool), make(chan bool)
	p := begin(t, w, func(p *player) {
		action(p, abi.SIGUSR1, func(p *player, _, _, _ uint64) { p.Call(nExitGroup, 5) }, 0, 0)
		beginThread(t, p, 0x4000, func(c *player) { c.Call(nPause) })
		close(computes)
		<-sent
		mask(p, abi.SIGUSR1)
		p.Call(nPause)
	})
	<-computes
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if f, _ := p.ThreadFacts(p.Facts().Threads[1]); f.State == "S" {
			break
		}
	}
	sendFrom(p, abi.SIGUSR1)
	close(sent)
	if s := finish(t, w, p); s != proc.Exited(5) {
		t.Errorf("status %#x", s)
	}
}

// TestHandledSignalDoesNotInterruptTheNextCall: only a signal that arrives during a call makes it
// fail with EINTR.
func TestHandledSignalDoesNotInterruptTheNextCall(t *testing.T) {
	w := world(t)
	computes, sent := make(chan bool), make(chan bool)
	p := begin(t, w, func(p *player) {
		c := catch(p, abi.SIGUSR1, 0)
		close(computes)
		<-sent
		p.Call(nGetpid)
		want(t, p, "handlers that ran", int64(c.times), 1)
		p.Poke64(scratch, 0)
		p.Poke64(scratch+8, 30e6)
		want(t, p, "nanosleep", p.Call(nNanosleep, scratch, 0), 0)
	})
	<-computes
	sendFrom(p, abi.SIGUSR1)
	close(sent)
	finish(t, w, p)
}

// TestForkCopiesActions: parent and child have separate actions. With CLONE_SIGHAND they share
// them.
func TestForkCopiesActions(t *testing.T) {
	run(t, func(p *player) {
		c := catch(p, abi.SIGUSR1, 0)
		at := actsOn(p, abi.SIGUSR1).Handler
		pid := p.Fork(func(c *player) {
			want(t, c, "the child's handler", int64(actsOn(c, abi.SIGUSR1).Handler), int64(at))
			ignore(c, abi.SIGUSR1)
			ignore(c, abi.SIGUSR2)
		}, nFork)
		reap(t, p, pid, 0)
		want(t, p, "the parent's handler", int64(actsOn(p, abi.SIGUSR1).Handler), int64(at))
		want(t, p, "its other action", int64(actsOn(p, abi.SIGUSR2).Handler), abi.SIG_DFL)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "handlers that ran", int64(c.times), 1)
		pid = p.Fork(func(c *player) { ignore(c, abi.SIGUSR2) }, nClone,
			abi.CLONE_VM|abi.CLONE_VFORK|abi.CLONE_SIGHAND|abi.SIGCHLD, proctest.StackTop-0x4000, 0, 0, 0)
		reap(t, p, pid, 0)
		want(t, p, "with CLONE_SIGHAND", int64(actsOn(p, abi.SIGUSR2).Handler), abi.SIG_IGN)
	})
}

// TestCloneClearsHandlers: clone(2), CLONE_CLEAR_SIGHAND: ignored signals stay ignored.
func TestCloneClearsHandlers(t *testing.T) {
	run(t, func(p *player) {
		catch(p, abi.SIGUSR1, 0)
		ignore(p, abi.SIGUSR2)
		p.Poke(scratch, make([]byte, 64))
		p.Poke64(scratch, abi.CLONE_CLEAR_SIGHAND)
		p.Poke64(scratch+32, abi.SIGCHLD)
		pid := p.Fork(func(c *player) {
			want(t, c, "handler", int64(actsOn(c, abi.SIGUSR1).Handler), abi.SIG_DFL)
			want(t, c, "ignored", int64(actsOn(c, abi.SIGUSR2).Handler), abi.SIG_IGN)
		}, nClone3, scratch, 64)
		reap(t, p, pid, 0)
	})
}

// TestForkAndSignals: fork(2): the child has no pending signals; it inherits the mask and the
// alternate stack. A thread inherits the mask only.
func TestForkAndSignals(t *testing.T) {
	run(t, func(p *player) {
		st := abi.Stack{SP: proctest.Data + 0x4000, Size: 0x4000}
		p.Poke(scratch, abi.Bytes(&st))
		p.Call(nAltstack, scratch, 0)
		mask(p, abi.SIGUSR1)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "pending", pending(p), 1<<(abi.SIGUSR1-1))
		look := func(c *player, at uint64, stack int64) {
			c.Call(nSigmask, abi.SIG_BLOCK, 0, at, 8)
			want(t, c, "mask", int64(c.Peek64(at)), 1<<(abi.SIGUSR1-1))
			c.Call(nAltstack, 0, at)
			want(t, c, "stack for handlers", int64(c.Peek64(at)), stack)
		}
		pid := p.Fork(func(c *player) {
			want(t, c, "pending in the child", pending(c), 0)
			look(c, aside, int64(st.SP))
		}, nFork)
		reap(t, p, pid, 0)
		looked := make(chan bool)
		beginThread(t, p, 0x4000, func(c *player) {
			look(c, scratch+0x900, 0)
			close(looked)
			c.Call(nExit, 0)
		})
		<-looked
		ignore(p, abi.SIGUSR1)
		want(t, p, "pending, and ignored since", pending(p), 0)
	})
}

// TestExecAndSignals: execve(2): handlers are reset to the default, ignored signals stay ignored;
// the mask and pending signals are kept; the alternate stack and timers of timer_create are gone.
func TestExecAndSignals(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) {
		want(t, p, "caught", int64(actsOn(p, abi.SIGUSR1).Handler), abi.SIG_DFL)
		want(t, p, "ignored", int64(actsOn(p, abi.SIGUSR2).Handler), abi.SIG_IGN)
		want(t, p, "pending", pending(p), 1<<(abi.SIGTERM-1))
		p.Call(nAltstack, 0, scratch)
		want(t, p, "stack for handlers", int64(p.Peek64(scratch)), 0)
		want(t, p, "the old program's timer", p.Call(nTimerGettime, 0, scratch), errno(sys.EINVAL))
		p.Call(nExitGroup, 8)
	})
	p := begin(t, w, func(p *player) {
		catch(p, abi.SIGUSR1, 0)
		ignore(p, abi.SIGUSR2)
		mask(p, abi.SIGTERM)
		p.Call(nKill, 2, abi.SIGTERM)
		st := abi.Stack{SP: proctest.Data + 0x4000, Size: 0x4000}
		p.Poke(scratch, abi.Bytes(&st))
		p.Call(nAltstack, scratch, 0)
		want(t, p, "timer_create", p.Call(nTimerCreate, 1, 0, scratch), 0)
		p.PokeString(scratch, "/bin/next")
		p.Call(nExecve, scratch, 0, 0)
	})
	if s := finish(t, w, p); s != proc.Exited(8) {
		t.Errorf("status %#x", s)
	}
}

// TestVforkWaitsForExec: vfork(2): the parent waits until the child has executed another program,
// not until it ends.
func TestVforkWaitsForExec(t *testing.T) {
	w := world(t)
	goOn := make(chan bool)
	provide(t, w, "/bin/next", func(p *player) { <-goOn })
	p := begin(t, w, func(p *player) {
		execed := false
		pid := p.Fork(func(c *player) {
			time.Sleep(30 * time.Millisecond)
			execed = true
			c.PokeString(aside, "/bin/next")
			c.Call(nExecve, aside, 0, 0)
		}, nVfork)
		if !execed {
			t.Error("the parent runs on the stack that its child uses")
		}
		close(goOn)
		reap(t, p, pid, 0)
	})
	finish(t, w, p)
}

// TestDirectionFlag: a handler starts with DF clear, as the ABI demands, and the interrupted code
// gets its DF back. A handler cannot change flags that only the kernel may change.
func TestDirectionFlag(t *testing.T) {
	run(t, func(p *player) {
		c := catch(p, abi.SIGUSR1, 0)
		p.Regs().Flags |= amd64.RFLAGS_DF
		p.Call(nKill, 2, abi.SIGUSR1)
		if c.times != 1 || c.flags&amd64.RFLAGS_DF != 0 {
			t.Errorf("flags %#x in %d handlers", c.flags, c.times)
		}
		if p.Flags()&amd64.RFLAGS_DF == 0 {
			t.Errorf("flags %#x behind the handler", p.Flags())
		}
		before := p.Flags()
		action(p, abi.SIGUSR2, func(p *player, _, _, context uint64) {
			const flagsAt = 40 + 17*8                         // in ucontext
			p.Poke64(context+flagsAt, 0x3000|amd64.RFLAGS_CF) // IOPL 3, no IF, no DF
		}, abi.SA_SIGINFO, 0)
		p.Call(nKill, 2, abi.SIGUSR2)
		const wanted = amd64.RFLAGS_CF
		if got := p.Flags(); got != before&^amd64.RFLAGS_DF|wanted {
			t.Errorf("flags %#x, were %#x", got, before)
		}
	})
}
