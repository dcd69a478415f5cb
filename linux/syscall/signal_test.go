package syscall

import (
	"bytes"
	"runtime"
	"strings"
	"sync/atomic"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

func TestDefaultActionKills(t *testing.T) {
	if s := run(t, func(p *player) { p.Call(nKill, 2, abi.SIGTERM) }); s != proc.Killed(abi.SIGTERM) {
		t.Errorf("status %#x", s)
	}
}

// TestHandlerSeesItsSignal checks everything that a handler gets, and that its return restores the
// state.
func TestHandlerSeesItsSignal(t *testing.T) {
	ran := 0
	s := run(t, func(p *player) {
		fp := bytes.Repeat([]byte{0x5a}, 24)
		copy(p.FP(), fp)
		sp, bx := p.Regs().SP, uint64(0x1234)
		p.Regs().BX = bx
		action(p, abi.SIGUSR1, func(p *player, sig, info, context uint64) {
			ran++
			want(t, p, "signal", int64(sig), abi.SIGUSR1)
			if p.Regs().SP%16 != 8 || p.Regs().SP > sp-128-440 {
				t.Errorf("SP %#x in the handler, %#x before", p.Regs().SP, sp)
			}
			var i abi.Siginfo
			copy(abi.Bytes(&i), p.Peek(info, 128))
			if pid, _ := i.Sender(); i.Signo != abi.SIGUSR1 || i.Code != abi.SI_USER || pid != 2 {
				t.Errorf("siginfo %+v", i)
			}
			var u abi.Ucontext
			copy(abi.Bytes(&u), p.Peek(context, 304))
			if u.Context.SP != sp || u.Context.BX != bx || u.Mask != 1<<(abi.SIGHUP-1) {
				t.Errorf("context %+v", u)
			}
			if got := p.Peek(u.Context.FPState, 24); !bytes.Equal(got, fp) || u.Context.FPState%64 != 0 {
				t.Errorf("floating point at %#x: % x", u.Context.FPState, got)
			}
			p.Call(nSigmask, abi.SIG_BLOCK, 0, scratch, 8)
			want(t, p, "mask in the handler", int64(p.Peek64(scratch)), 1<<(abi.SIGHUP-1)|1<<(abi.SIGUSR1-1)|1<<(abi.SIGUSR2-1))
			clear(p.FP())
			p.Regs().BX = 0
		}, abi.SA_SIGINFO, 1<<(abi.SIGUSR2-1))
		p.Poke64(scratch, 1<<(abi.SIGHUP-1)|1<<(abi.SIGKILL-1))
		p.Call(nSigmask, abi.SIG_SETMASK, scratch, 0, 8)
		want(t, p, "kill", p.Call(nKill, 2, abi.SIGUSR1), 0)
		p.Call(nSigmask, abi.SIG_BLOCK, 0, scratch, 8)
		want(t, p, "mask after the handler", int64(p.Peek64(scratch)), 1<<(abi.SIGHUP-1))
		if r := p.Regs(); r.SP != sp || r.BX != bx || !bytes.Equal(p.FP()[:24], fp) {
			t.Errorf("after the handler SP %#x BX %#x, floating point % x", r.SP, r.BX, p.FP()[:24])
		}
	})
	if s != 0 || ran != 1 {
		t.Errorf("status %#x, the handler ran %d times", s, ran)
	}
}

func TestBlockedSignalWaits(t *testing.T) {
	var order []uint64
	run(t, func(p *player) {
		note := func(p *player, sig, _, _ uint64) { order = append(order, sig) }
		action(p, abi.SIGUSR1, note, 0, ^uint64(0))
		action(p, abi.SIGUSR2, note, 0, ^uint64(0))
		p.Poke64(scratch, ^uint64(0))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		p.Call(nKill, 2, abi.SIGUSR2)
		p.Call(nKill, 2, abi.SIGUSR1)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "handlers that ran", int64(len(order)), 0)
		p.Call(nSigpending, scratch+8, 8)
		want(t, p, "pending", int64(p.Peek64(scratch+8)), 1<<(abi.SIGUSR1-1)|1<<(abi.SIGUSR2-1))
		p.Call(nSigmask, abi.SIG_UNBLOCK, scratch, 0, 8)
	})
	// The frame of USR2 is pushed last, so its handler runs first, as in Linux, unless the mask of
	// the first handler blocks it: here it does.
	if len(order) != 2 || order[0] != abi.SIGUSR1 || order[1] != abi.SIGUSR2 {
		t.Errorf("order %v", order)
	}
}

// pauser starts a process that sleeps in a call, with a handler for SIGUSR1, and returns when it
// sleeps.
func pauser(t *testing.T, w *proctest.World, flags uint64, call func(p *player) int64) (*proc.Process, *int64) {
	result := new(int64)
	p := begin(t, w, func(p *player) {
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) {}, flags, 0)
		*result = call(p)
	})
	asleep(t, p)
	return p, result
}

func asleep(t *testing.T, p *proc.Process) {
	t.Helper()
	for end := time.Now().Add(long); p.State() != "S"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("state %s", p.State())
		}
	}
}

func sendFrom(p *proc.Process, sig int) error { return p.Send(proc.SignalOf(sig)) }

func TestInterruptedCalls(t *testing.T) {
	readPipe := func(p *player) int64 {
		p.Call(nPipe, scratch)
		fd, wfd := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		if p.Fork(func(c *player) {
			time.Sleep(100 * time.Millisecond)
			c.Call(nWrite, wfd, scratch, 1)
		}, nFork) < 0 {
			t.Error("fork")
		}
		n := p.Call(nRead, fd, scratch+64, 10)
		p.Call(nWait4, ^uint64(0), 0, 0, 0)
		return n
	}
	sleepLong := func(p *player) int64 {
		p.Poke64(scratch, 1000)
		p.Poke64(scratch+8, 0)
		return p.Call(nNanosleep, scratch, scratch+16)
	}
	for _, c := range []struct {
		name  string
		flags uint64
		call  func(*player) int64
		want  int64
	}{
		{"read, without SA_RESTART", 0, readPipe, errno(sys.EINTR)},
		{"read, with SA_RESTART", abi.SA_RESTART, readPipe, 1},
		{"pause, with SA_RESTART", abi.SA_RESTART, func(p *player) int64 { return p.Call(nPause) }, errno(sys.EINTR)},
		{"nanosleep, with SA_RESTART", abi.SA_RESTART, sleepLong, errno(sys.EINTR)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(t)
			p, result := pauser(t, w, c.flags, c.call)
			sendFrom(p, abi.SIGUSR1)
			finish(t, w, p)
			if *result != c.want {
				t.Errorf("%d, want %d", *result, c.want)
			}
		})
	}
}

// TestStopAndContinue also checks that a call that a stop interrupted continues, and ends.
func TestStopAndContinue(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) {
		p.Poke64(scratch, 0)
		p.Poke64(scratch+8, 300e6)
		want(t, p, "nanosleep", p.Call(nNanosleep, scratch, 0), 0)
	})
	asleep(t, p)
	sendFrom(p, abi.SIGSTOP)
	wait := func(options int) proc.Change {
		c, err := w.Table.Init().Wait(proc.Which{Kind: abi.P_PID, ID: p.PID}, options, func() <-chan struct{} { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := wait(abi.WSTOPPED); c.Status != abi.SIGSTOP<<8|0x7f || c.Code != abi.CLD_STOPPED {
		t.Errorf("stopped: %+v", c)
	}
	if c := wait(abi.WSTOPPED | abi.WNOHANG); c.PID != 0 {
		t.Errorf("the stop was told twice: %+v", c)
	}
	if p.State() != "T" {
		t.Errorf("state %s", p.State())
	}
	sendFrom(p, abi.SIGCONT)
	if c := wait(abi.WCONTINUED); c.Status != 0xffff {
		t.Errorf("continued: %+v", c)
	}
	if s := finish(t, w, p); s != 0 {
		t.Errorf("status %#x", s)
	}
}

func TestKillEndsAStoppedProcess(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) { p.Call(nPause) })
	asleep(t, p)
	sendFrom(p, abi.SIGSTOP)
	for p.State() != "T" {
		time.Sleep(time.Millisecond)
	}
	sendFrom(p, abi.SIGKILL)
	if s := finish(t, w, p); s != proc.Killed(abi.SIGKILL) {
		t.Errorf("status %#x", s)
	}
}

// TestSegfault checks the log, which has Linux's words, and the signal.
func TestSegfault(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) { p.Fault(14, 6, 0xdead000) })
	if s := finish(t, w, p); s != proc.Killed(abi.SIGSEGV) {
		t.Errorf("status %#x", s)
	}
	if l := w.Log(); len(l) != 1 || !strings.HasPrefix(l[0], "test[2]: segfault at dead000 ip 0000000000401002 sp 00007ffff0000000 error 6") {
		t.Errorf("log %q", l)
	}
}

func TestFaultHandlerAndDemandPaging(t *testing.T) {
	s := run(t, func(p *player) {
		p.Fault(14, 6, proctest.Data+0x3000) // not mapped yet: the fault maps it
		caught := false
		action(p, abi.SIGSEGV, func(p *player, sig, info, _ uint64) {
			var i abi.Siginfo
			copy(abi.Bytes(&i), p.Peek(info, 128))
			caught = i.Code == abi.SEGV_MAPERR && i.Addr() == 0x123000
		}, abi.SA_SIGINFO, 0)
		p.Fault(14, 4, 0x123000)
		if !caught {
			t.Error("no handler ran")
		}
	})
	if s != 0 {
		t.Errorf("status %#x", s)
	}
}

func TestExceptionsAreSignals(t *testing.T) {
	for vector, sig := range map[proc.Event]int{0: abi.SIGFPE, 1: abi.SIGTRAP, 3: abi.SIGTRAP, 6: abi.SIGILL, 13: abi.SIGSEGV, 16: abi.SIGFPE, 17: abi.SIGBUS, 19: abi.SIGFPE} {
		if s := run(t, func(p *player) { ignore(p, uint64(sig)); p.Fault(vector, 0, 0) }); s != proc.Killed(sig) {
			t.Errorf("vector %d: status %#x", vector, s)
		}
	}
}

func TestAlternateStack(t *testing.T) {
	run(t, func(p *player) {
		st := abi.Stack{SP: proctest.Data + 0x4000, Size: 0x4000}
		p.Poke(scratch, abi.Bytes(&st))
		want(t, p, "sigaltstack", p.Call(nAltstack, scratch, 0), 0)
		action(p, abi.SIGUSR1, func(p *player, _, _, _ uint64) {
			if sp := p.Regs().SP; sp < st.SP || sp > st.SP+st.Size {
				t.Errorf("SP %#x", sp)
			}
			want(t, p, "a change while in use", p.Call(nAltstack, scratch, 0), errno(sys.EPERM))
		}, abi.SA_ONSTACK, 0)
		p.Call(nKill, 2, abi.SIGUSR1)
		p.Regs().SP = 0x1000 // there is no usable stack: only the alternate one works
		p.Call(nKill, 2, abi.SIGUSR1)
		p.Regs().SP = proctest.StackTop
	})
}

func TestBadStackKills(t *testing.T) {
	s := run(t, func(p *player) {
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) { t.Error("the handler ran") }, 0, 0)
		p.Regs().SP = 0x1000
		p.Call(nKill, 2, abi.SIGUSR1)
	})
	if s != proc.Killed(abi.SIGSEGV) {
		t.Errorf("status %#x", s)
	}
}

func TestSigsuspendSwapsTheMask(t *testing.T) {
	run(t, func(p *player) {
		ran := 0
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) { ran++ }, 0, 0)
		p.Poke64(scratch, 1<<(abi.SIGUSR1-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "handlers that ran", int64(ran), 0)
		p.Poke64(scratch+8, 0)
		want(t, p, "sigsuspend", p.Call(nSuspend, scratch+8, 8), errno(sys.EINTR))
		want(t, p, "handlers that ran", int64(ran), 1)
		p.Call(nSigmask, abi.SIG_BLOCK, 0, scratch+16, 8)
		want(t, p, "mask", int64(p.Peek64(scratch+16)), 1<<(abi.SIGUSR1-1))
	})
}

func TestSigtimedwait(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) {
		p.Poke64(scratch, 1<<(abi.SIGCHLD-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		p.Poke64(scratch+16, 0)
		p.Poke64(scratch+24, 1000)
		want(t, p, "nothing there", p.Call(nSigtimedwait, scratch, 0, scratch+16, 8), errno(sys.EAGAIN))
		pid := p.Fork(func(c *player) { time.Sleep(10 * time.Millisecond); c.Call(nExitGroup, 4) }, nFork)
		want(t, p, "sigtimedwait", p.Call(nSigtimedwait, scratch, scratch+64, 0, 8), abi.SIGCHLD)
		var i abi.Siginfo
		copy(abi.Bytes(&i), p.Peek(scratch+64, 128))
		if who, _ := i.Sender(); int64(who) != pid || i.Status() != 4 || i.Code != abi.CLD_EXITED {
			t.Errorf("siginfo %+v", i)
		}
		p.Call(nWait4, ^uint64(0), 0, 0, 0)
	})
	if s := finish(t, w, p); s != 0 {
		t.Errorf("status %#x", s)
	}
}

func TestAlarm(t *testing.T) {
	s := run(t, func(p *player) {
		want(t, p, "alarm", p.Call(nAlarm, 100), 0)
		want(t, p, "alarm", p.Call(nAlarm, 1), 100)
		p.Call(nPause)
	})
	if s != proc.Killed(abi.SIGALRM) {
		t.Errorf("status %#x", s)
	}
}

// TestSignalsStorm sends many signals to a thread that computes and blocks signals.
func TestSignalsStorm(t *testing.T) {
	const handlers = 500
	w := world(t)
	var ran, sent atomic.Int64
	p := begin(t, w, func(p *player) {
		action(p, abi.SIGUSR1, func(*player, uint64, uint64, uint64) { ran.Add(1) }, 0, 0)
		for ran.Load() < handlers {
			p.Interrupt()
			p.Poke64(scratch, 0)
			p.Poke64(scratch+8, 10000)
			p.Call(nNanosleep, scratch, 0)
		}
	})
	asleep(t, p)
	for end := time.Now().Add(long); ran.Load() < handlers && time.Now().Before(end); sent.Add(1) {
		sendFrom(p, abi.SIGUSR1)
		runtime.Gosched()
	}
	if s := finish(t, w, p); s != 0 {
		t.Errorf("status %#x", s)
	}
	if ran.Load() > sent.Load()+1 {
		t.Errorf("%d handlers ran for %d signals", ran.Load(), sent.Load())
	}
}

func TestGroupsAndSessions(t *testing.T) {
	run(t, func(p *player) {
		child := uint64(p.Fork(func(c *player) { c.Call(nPause) }, nFork))
		want(t, p, "setpgid", p.Call(nSetpgid, child, child), 0)
		want(t, p, "getpgid", p.Call(nGetpgid, child), int64(child))
		want(t, p, "setpgid of another session's process", p.Call(nSetpgid, 1, 1), errno(sys.ESRCH))
		want(t, p, "setsid of a group's leader", p.Call(nSetsid), errno(sys.EPERM))
		want(t, p, "kill of a group", p.Call(nKill, -child, abi.SIGTERM), 0)
		want(t, p, "wait4 by group", p.Call(nWait4, -child, scratch, 0, 0), int64(child))
		want(t, p, "status", int64(p.Peek32(scratch)), abi.SIGTERM)
		want(t, p, "kill of no group", p.Call(nKill, -child, abi.SIGTERM), errno(sys.ESRCH))
		pid := p.Fork(func(c *player) {
			id := c.Call(nGetpid)
			want(t, c, "setsid", c.Call(nSetsid), id)
			want(t, c, "getpgid", c.Call(nGetpgid, 0), id)
		}, nFork)
		want(t, p, "wait4", p.Call(nWait4, uint64(pid), scratch, 0, 0), pid)
		want(t, p, "status", int64(p.Peek32(scratch)), 0)
	})
}

// TestSignalsOfAThreadAreLimited: only the process's queued signals were limited, so a program
// could make the kernel store any number of its threads' signals.
func TestSignalsOfAThreadAreLimited(t *testing.T) {
	run(t, func(p *player) {
		p.Poke64(scratch, 1<<(40-1))
		p.Call(nSigmask, abi.SIG_BLOCK, scratch, 0, 8)
		n := 0
		for n < 10000 && p.Call(nTgkill, 2, 2, 40) == 0 {
			n++
		}
		want(t, p, "how many", int64(n), 4096)
		want(t, p, "of the process", p.Call(nKill, 2, 40), errno(sys.EAGAIN))
		want(t, p, "SIGTERM's own place", p.Call(nTgkill, 2, 2, 0), 0)
	})
}
