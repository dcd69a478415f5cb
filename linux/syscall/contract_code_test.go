package syscall

import (
	sys "syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/proctest"
)

// What sigaction(2) specifies about siginfo_t, and about the stack of a handler.

const vecPage, vecDivide, vecDebug = 14, 0, 1 // exceptions

// TestCodesSayWhereSignalsComeFrom: si_code of each source.
func TestCodesSayWhereSignalsComeFrom(t *testing.T) {
	run(t, func(p *player) {
		c := catch(p, abi.SIGUSR1, 0)
		sent := func(what string, r int64, code int32) {
			t.Helper()
			want(t, p, what, r, 0)
			if p.Call(nGetpid); c.info.Code != code || whose(c.info) != 2 {
				t.Errorf("%s: %+v, want code %d", what, c.info, code)
			}
		}
		sent("kill", p.Call(nKill, 2, abi.SIGUSR1), abi.SI_USER)
		sent("tgkill", p.Call(nTgkill, 2, 2, abi.SIGUSR1), abi.SI_TKILL)
		c = catch(p, abi.SIGCHLD, 0)
		for status, code := range map[uint64]int32{0: abi.CLD_EXITED, abi.SIGKILL: abi.CLD_KILLED} {
			pid := p.Fork(func(c *player) {
				if status > 0 {
					c.Call(nKill, uint64(c.Call(nGetpid)), status)
				}
			}, nFork)
			p.Call(nWait4, uint64(pid), 0, 0, 0)
			if p.Call(nGetpid); c.info.Code != code || whose(c.info) != pid || c.info.Status() != int32(status) {
				t.Errorf("of a child's end: %+v, want code %d", c.info, code)
			}
		}
		c = catch(p, abi.SIGALRM, 0)
		p.Poke(scratch, make([]byte, 32))
		p.Poke64(scratch+24, 1000) // microseconds
		p.Call(nSetitimer, 0, scratch, 0)
		p.Call(nPause)
		if c.times != 1 || c.info.Code != abi.SI_KERNEL {
			t.Errorf("of a timer of setitimer: %+v", c.info)
		}
		want(t, p, "timer_create", p.Call(nTimerCreate, 1, 0, scratch+64), 0)
		p.Poke64(scratch+24, 1000)
		p.Call(nTimerSettime, 0, 0, scratch, 0)
		p.Call(nPause)
		if c.times != 2 || c.info.Code != abi.SI_TIMER {
			t.Errorf("of a timer of timer_create: %+v", c.info)
		}
	})
}

// TestNobodyPretendsToBeTheKernel: rt_sigqueueinfo(2): for another process only codes below 0, and
// not that of tkill.
func TestNobodyPretendsToBeTheKernel(t *testing.T) {
	run(t, func(p *player) {
		pid := uint64(p.Fork(func(c *player) { c.Call(nPause) }, nFork))
		for code, wants := range map[int32]int64{abi.SI_KERNEL: errno(sys.EPERM), abi.SI_USER: errno(sys.EPERM), abi.SI_TKILL: errno(sys.EPERM), -1: 0} {
			p.Poke(scratch, abi.Bytes(&abi.Siginfo{Code: code}))
			want(t, p, "queue", p.Call(nSigqueueinfo, pid, abi.SIGTERM, scratch), wants)
		}
		reap(t, p, int64(pid), proc.Killed(abi.SIGTERM))
	})
}

// TestCodesOfFaults: the reason and the address of a faulting access.
func TestCodesOfFaults(t *testing.T) {
	run(t, func(p *player) {
		p.PokeString(scratch, "f")
		fd := uint64(p.Call(nMemfd, scratch, 0))
		want(t, p, "ftruncate", p.Call(nFtruncate, fd, 4096), 0)
		file := p.Call(nMmap, 0, 8192, abi.PROT_READ, abi.MAP_PRIVATE, fd, 0)
		none := p.Call(nMmap, 0, 4096, abi.PROT_READ, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, ^uint64(0), 0)
		for _, x := range []struct {
			what   string
			vector proc.Event
			err    uint64
			addr   int64
			signal uint64
			code   int32
		}{
			{"nothing is mapped", vecPage, 6, 0x123000, abi.SIGSEGV, abi.SEGV_MAPERR},
			{"a write where only reading is allowed", vecPage, 7, none, abi.SIGSEGV, abi.SEGV_ACCERR},
			{"executing data", vecPage, 21, none, abi.SIGSEGV, abi.SEGV_ACCERR},
			{"behind the end of a file", vecPage, 4, file + 4096, abi.SIGBUS, abi.BUS_ADRERR},
			{"a division by zero", vecDivide, 0, 0x401002, abi.SIGFPE, abi.FPE_INTDIV},
		} {
			c := catch(p, x.signal, 0)
			p.Fault(x.vector, x.err, uint64(x.addr))
			if c.times != 1 || c.info.Code != x.code || c.info.Addr() != uint64(x.addr) {
				t.Errorf("%s: %d handlers, %+v, want code %d at %#x", x.what, c.times, c.info, x.code, x.addr)
			}
		}
	})
}

// TestCodesOfDebugTraps: sigaction(2): a step is TRAP_TRACE, INT1 is TRAP_BRKPT, also if DR6 still
// says that there was a step.
func TestCodesOfDebugTraps(t *testing.T) {
	const int1, popf = 0xf1, 0x9d
	run(t, func(p *player) {
		c := catch(p, abi.SIGTRAP, 0)
		ip := uint64(0x401002) // of what a player does
		page := int64(ip &^ 0xfff)
		want(t, p, "mmap", p.Call(nMmap, uint64(page), 4096, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS|abi.MAP_FIXED, ^uint64(0), 0), page)
		for _, x := range []struct {
			what       string
			last       byte
			flags, dr6 uint64
			code       int32
		}{
			{"a step", 0x90, amd64.RFLAGS_TF, debugreg.DR6_BS, abi.TRAP_TRACE},
			{"the step of a POPF that clears TF", popf, 0, debugreg.DR6_BS, abi.TRAP_TRACE},
			{"INT1", int1, 0, 0, abi.TRAP_BRKPT},
			{"INT1 in a program that steps", int1, amd64.RFLAGS_TF, 0, abi.TRAP_BRKPT},
			{"INT1 after a step in the kernel", int1, 0, debugreg.DR6_BS, abi.TRAP_BRKPT},
		} {
			p.Poke(ip-1, []byte{x.last})
			p.DR6, p.Regs().Flags = x.dr6, p.Regs().Flags&^amd64.RFLAGS_TF|x.flags
			c.times = 0
			p.Fault(vecDebug, 0, 0)
			if c.times != 1 || c.info.Code != x.code || c.info.Addr() != ip {
				t.Errorf("%s: %d handlers, %+v, want code %d", x.what, c.times, c.info, x.code)
			}
		}
	})
}

// TestFaultThatIsBlockedKills: signal(7): a fault whose signal is blocked ends the program.
func TestFaultThatIsBlockedKills(t *testing.T) {
	s := run(t, func(p *player) {
		catch(p, abi.SIGSEGV, 0)
		mask(p, abi.SIGSEGV)
		for range 3 {
			p.Fault(vecPage, 6, 0x123000)
		}
	})
	if s != proc.Killed(abi.SIGSEGV) {
		t.Errorf("status %#x", s)
	}
}

// TestFrameIsOutsideOfTheRedZone: the frame is below the red zone; if it does not fit on the
// alternate stack, the program ends.
func TestFrameIsOutsideOfTheRedZone(t *testing.T) {
	s := run(t, func(p *player) {
		sp := p.Regs().SP
		action(p, abi.SIGUSR1, func(p *player, _, _, context uint64) {
			var u abi.Ucontext
			copy(abi.Bytes(&u), p.Peek(context, 304))
			if end := u.Context.FPState + abi.FPSize; end > sp-128 {
				t.Errorf("the frame ends at %#x, SP was %#x", end, sp)
			}
		}, abi.SA_SIGINFO, 0)
		p.Call(nKill, 2, abi.SIGUSR1)
		st := abi.Stack{SP: proctest.Data + 0x4000, Size: abi.MINSIGSTKSZ}
		p.Poke(scratch, abi.Bytes(&st))
		want(t, p, "sigaltstack", p.Call(nAltstack, scratch, 0), 0)
		depth := 0
		action(p, abi.SIGUSR2, func(p *player, _, _, _ uint64) {
			if sp := p.Regs().SP; sp < st.SP || sp > st.SP+st.Size {
				t.Errorf("a handler at %#x", sp)
			}
			if depth++; depth < 5 {
				p.Call(nKill, 2, abi.SIGUSR2)
			}
		}, abi.SA_ONSTACK|abi.SA_NODEFER, 0)
		p.Call(nKill, 2, abi.SIGUSR2)
	})
	if s != proc.Killed(abi.SIGSEGV) {
		t.Errorf("status %#x", s)
	}
}

// TestSigtimedwaitTakesTheSignal: sigwaitinfo(2): the signal is no longer pending, and no handler
// runs.
func TestSigtimedwaitTakesTheSignal(t *testing.T) {
	w := world(t)
	p := begin(t, w, func(p *player) {
		c := catch(p, abi.SIGUSR1, 0)
		mask(p, abi.SIGUSR1)
		p.Poke64(scratch, 1<<(abi.SIGUSR1-1))
		want(t, p, "sigwaitinfo", p.Call(nSigtimedwait, scratch, 0, 0, 8), abi.SIGUSR1)
		want(t, p, "pending", pending(p), 0)
		mask(p)
		p.Call(nGetpid)
		want(t, p, "handlers that ran", int64(c.times), 0)
	})
	asleep(t, p)
	sendFrom(p, abi.SIGUSR1)
	finish(t, w, p)
}
