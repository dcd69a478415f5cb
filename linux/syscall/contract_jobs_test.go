package syscall

import (
	"strings"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
)

// What wait(2), setpgid(2), credentials(7), sigaction(2), kill(2) and getrlimit(2) specify.

const (
	nPrctl      = 157
	setDeathSig = 1 // PR_SET_PDEATHSIG
	wclone      = 0x80000000
)

func statusOf(i abi.Siginfo) int32 { return i.Status() }

// TestStopsAndContinues: a pending stop signal drops a pending SIGCONT, and the other way round.
func TestStopsAndContinues(t *testing.T) {
	run(t, func(p *player) {
		catch(p, abi.SIGCONT, 0)
		mask(p, abi.SIGCONT, abi.SIGTSTP, abi.SIGTTIN)
		p.Call(nKill, 2, abi.SIGTSTP)
		p.Call(nKill, 2, abi.SIGTTIN)
		want(t, p, "two stops", pending(p), 1<<(abi.SIGTSTP-1)|1<<(abi.SIGTTIN-1))
		p.Call(nKill, 2, abi.SIGCONT)
		want(t, p, "then SIGCONT", pending(p), 1<<(abi.SIGCONT-1))
		p.Call(nKill, 2, abi.SIGTSTP)
		want(t, p, "then a stop", pending(p), 1<<(abi.SIGTSTP-1))
		p.Call(nKill, 2, abi.SIGCONT)
	})
}

// TestWaitTellsOnce: each stop and each continuation is reported once, unless WNOWAIT is given.
func TestWaitTellsOnce(t *testing.T) {
	run(t, func(p *player) {
		pid := uint64(p.Fork(func(c *player) { c.Call(nPause) }, nFork))
		news := func(what string, options uint64, code int32) {
			t.Helper()
			p.Poke(scratch, make([]byte, 128))
			want(t, p, what, p.Call(nWaitid, abi.P_PID, pid, scratch, options, 0), 0)
			want(t, p, what+", code", int64(siginfoAt(p, scratch).Code), int64(code))
		}
		p.Call(nKill, pid, abi.SIGSTOP)
		news("a stop, left", abi.WSTOPPED|abi.WNOWAIT, abi.CLD_STOPPED)
		news("a stop", abi.WSTOPPED, abi.CLD_STOPPED)
		news("the same stop", abi.WSTOPPED|abi.WNOHANG, 0)
		p.Call(nKill, pid, abi.SIGCONT)
		news("going on, left", abi.WCONTINUED|abi.WNOWAIT, abi.CLD_CONTINUED)
		news("going on", abi.WCONTINUED, abi.CLD_CONTINUED)
		news("going on again", abi.WCONTINUED|abi.WNOHANG, 0)
		p.Call(nKill, pid, abi.SIGSTOP)
		news("another stop", abi.WSTOPPED, abi.CLD_STOPPED)
		p.Call(nKill, pid, abi.SIGKILL)
		news("the end, left", abi.WEXITED|abi.WNOWAIT, abi.CLD_KILLED)
		want(t, p, "its signal", int64(statusOf(siginfoAt(p, scratch))), abi.SIGKILL)
		news("the end", abi.WEXITED, abi.CLD_KILLED)
	})
}

// TestWaitFitsChildren: waitpid(0) waits for the caller's group, and without __WCLONE or __WALL
// only for children that end with SIGCHLD.
func TestWaitFitsChildren(t *testing.T) {
	run(t, func(p *player) {
		other := uint64(p.Fork(func(c *player) { c.Call(nPause) }, nFork))
		want(t, p, "setpgid", p.Call(nSetpgid, other, other), 0)
		p.Call(nKill, other, abi.SIGKILL)
		p.Call(nWaitid, abi.P_PID, other, scratch, abi.WEXITED|abi.WNOWAIT, 0)
		want(t, p, "of no child in this group", p.Call(nWait4, 0, 0, abi.WNOHANG, 0), errno(sys.ECHILD))
		reap(t, p, int64(other), proc.Killed(abi.SIGKILL))
		c := catch(p, abi.SIGUSR1, 0)
		child := p.Fork(func(c *player) { c.Call(nExitGroup, 3) }, nClone, abi.SIGUSR1, 0, 0, 0, 0)
		want(t, p, "of a clone", p.Call(nWait4, ^uint64(0), 0, 0, 0), errno(sys.ECHILD))
		for end := time.Now().Add(long); c.times == 0 && time.Now().Before(end); p.Call(nGetpid) {
			time.Sleep(time.Millisecond)
		}
		if c.info.Signo != abi.SIGUSR1 || c.info.Code != abi.CLD_EXITED || c.info.Status() != 3 {
			t.Errorf("the child's end is told by %+v", c.info)
		}
		want(t, p, "of a clone, by __WCLONE", p.Call(nWaitid, abi.P_ALL, 0, scratch, abi.WEXITED|abi.WNOWAIT|wclone, 0), 0)
		want(t, p, "of a clone, by __WCLONE", p.Call(nWait4, ^uint64(0), 0, wclone, 0), child)
	})
}

// TestChildrenThatAreNotWanted: SA_NOCLDWAIT leaves no zombies, SA_NOCLDSTOP reports no stops.
func TestChildrenThatAreNotWanted(t *testing.T) {
	run(t, func(p *player) {
		c := catch(p, abi.SIGCHLD, abi.SA_NOCLDSTOP)
		pid := uint64(p.Fork(func(c *player) { c.Call(nPause) }, nFork))
		for _, step := range []uint64{abi.SIGSTOP, abi.SIGCONT} {
			p.Call(nKill, pid, step)
			p.Call(nWaitid, abi.P_PID, pid, scratch, abi.WSTOPPED|abi.WCONTINUED, 0)
		}
		want(t, p, "signals for stopping and going on", int64(c.times), 0)
		p.Call(nKill, pid, abi.SIGTERM)
		reap(t, p, int64(pid), proc.Killed(abi.SIGTERM))
		p.Call(nGetpid)
		want(t, p, "signals for the end", int64(c.times), 1)
		catch(p, abi.SIGCHLD, abi.SA_NOCLDWAIT)
		p.Fork(func(c *player) { c.Call(nExitGroup, 4) }, nFork)
		want(t, p, "wait without zombies", p.Call(nWait4, ^uint64(0), 0, 0, 0), errno(sys.ECHILD))
	})
}

// TestGroupsAreRefused: setpgid(2), setsid(2).
func TestGroupsAreRefused(t *testing.T) {
	w := world(t)
	execed := make(chan bool)
	provide(t, w, "/bin/next", func(p *player) {
		close(execed)
		p.Call(nPause)
	})
	p := begin(t, w, func(p *player) {
		child := uint64(p.Fork(func(c *player) {
			c.PokeString(aside, "/bin/next")
			c.Call(nExecve, aside, 0, 0)
		}, nFork))
		<-execed
		want(t, p, "setpgid behind exec", p.Call(nSetpgid, child, child), errno(sys.EACCES))
		p.Call(nKill, child, abi.SIGKILL)
		reap(t, p, int64(child), proc.Killed(abi.SIGKILL))
		pid := p.Fork(func(c *player) {
			c.Call(nSetsid)
			want(t, c, "setpgid of a session's leader", c.Call(nSetpgid, 0, 0), errno(sys.EPERM))
			grandchild := c.Fork(func(g *player) {
				want(t, g, "a group of another session", g.Call(nSetpgid, 0, 2), errno(sys.EPERM))
				want(t, g, "a group that is not there", g.Call(nSetpgid, 0, 12345), errno(sys.EPERM))
				want(t, g, "its own", g.Call(nSetpgid, 0, 0), 0)
				want(t, g, "setsid of a group's leader", g.Call(nSetsid), errno(sys.EPERM))
			}, nFork)
			reap(t, c, grandchild, 0)
		}, nFork)
		reap(t, p, pid, 0)
	})
	finish(t, w, p)
}

// TestOrphansDoNotStop: a terminal's signals do not stop an orphaned group: nobody could continue
// it.
func TestOrphansDoNotStop(t *testing.T) {
	run(t, func(p *player) {
		pid := p.Fork(func(c *player) {
			c.Call(nSetsid) // its parent is in another session
			c.Call(nKill, uint64(c.Call(nGetpid)), abi.SIGTSTP)
			c.Call(nExitGroup, 3)
		}, nFork)
		want(t, p, "wait4", p.Call(nWait4, uint64(pid), aside, abi.WUNTRACED, 0), pid)
		want(t, p, "status", int64(p.Peek32(aside)), int64(proc.Exited(3)))
	})
}

// TestJobsOfAShellThatEnds: stopped jobs get SIGHUP and continue, running ones get nothing.
func TestJobsOfAShellThatEnds(t *testing.T) {
	for _, stops := range []bool{true, false} {
		run(t, func(p *player) {
			p.Call(nPipe, scratch)
			fd, wfd := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
			job := make(chan uint64, 1)
			tell := func(c *player, sig uint64, letter byte) {
				action(c, sig, func(c *player, _, _, _ uint64) {
					c.Poke(aside, []byte{letter})
					c.Call(nWrite, wfd, aside, 1)
				}, 0, 0)
			}
			shell := p.Fork(func(c *player) {
				c.Call(nSetsid)
				g := uint64(c.Fork(func(g *player) {
					g.Call(nSetpgid, 0, 0)
					tell(g, abi.SIGHUP, 'h')
					tell(g, abi.SIGUSR1, 'u')
					tell(g, abi.SIGUSR2, 'r') // it is ready
					g.Call(nKill, uint64(g.Call(nGetpid)), abi.SIGUSR2)
					for {
						g.Call(nPause)
					}
				}, nFork))
				c.Call(nRead, fd, aside, 1)
				if stops {
					c.Call(nKill, g, abi.SIGSTOP)
					c.Call(nWait4, g, 0, abi.WUNTRACED, 0)
				}
				job <- g
			}, nFork)
			reap(t, p, shell, 0)
			g := <-job
			p.Call(nKill, g, abi.SIGUSR1)
			told := ""
			for range map[bool]int{true: 2, false: 1}[stops] {
				want(t, p, "read", p.Call(nRead, fd, aside, 1), 1)
				told += string(p.Peek(aside, 1))
			}
			if stops != strings.Contains(told, "h") {
				t.Errorf("stopped %v: the job tells %q", stops, told)
			}
			for p.Call(nKill, g, abi.SIGKILL) == 0 { // until it is gone
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// TestDeathOfTheParent: prctl(2), PR_SET_PDEATHSIG.
func TestDeathOfTheParent(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		fd, wfd := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		child := make(chan uint64, 1)
		parent := p.Fork(func(c *player) {
			ready := make(chan bool)
			child <- uint64(c.Fork(func(g *player) {
				action(g, abi.SIGUSR1, func(g *player, _, _, _ uint64) { g.Call(nWrite, wfd, aside, 1) }, 0, 0)
				want(t, g, "prctl", g.Call(nPrctl, setDeathSig, abi.SIGUSR1), 0)
				close(ready)
				g.Call(nPause)
			}, nFork))
			<-ready
		}, nFork)
		reap(t, p, parent, 0)
		p.Call(nClose, wfd)
		want(t, p, "what the child writes", p.Call(nRead, fd, aside, 1), 1)
		for g := <-child; p.Call(nKill, g, abi.SIGKILL) == 0; { // until it is gone
			time.Sleep(time.Millisecond)
		}
	})
}

// TestKillAll: kill(2): -1 is all but the caller and process 1.
func TestKillAll(t *testing.T) {
	s := run(t, func(p *player) {
		pid := p.Fork(func(c *player) { c.Call(nPause) }, nFork)
		want(t, p, "kill", p.Call(nKill, ^uint64(0), abi.SIGTERM), 0)
		reap(t, p, pid, proc.Killed(abi.SIGTERM))
	})
	if s != 0 {
		t.Errorf("the sender ends with %v", s)
	}
}

// limitIs returns both values of a resource limit.
func limitIs(p *player, which uint64) [2]uint64 {
	p.Call(nPrlimit, 0, which, 0, aside)
	return [2]uint64{p.Peek64(aside), p.Peek64(aside + 8)}
}

// TestLimitsAreCopied: getrlimit(2): a child inherits its parent's limits, and changes only its
// own.
func TestLimitsAreCopied(t *testing.T) {
	run(t, func(p *player) {
		want(t, p, "prlimit", limitTo(p, 0, abi.RLIMIT_NOFILE, 100), 0)
		pid := p.Fork(func(c *player) {
			if l := limitIs(c, abi.RLIMIT_NOFILE); l != [2]uint64{100, 100} {
				t.Errorf("the child has %d", l)
			}
			want(t, c, "prlimit", limitTo(c, 0, abi.RLIMIT_NOFILE, 50), 0)
		}, nFork)
		reap(t, p, pid, 0)
		if l := limitIs(p, abi.RLIMIT_NOFILE); l != [2]uint64{100, 100} {
			t.Errorf("the parent has %d", l)
		}
		p.Poke64(scratch, 60)
		p.Poke64(scratch+8, 50)
		want(t, p, "more than its maximum", p.Call(nPrlimit, 0, abi.RLIMIT_NOFILE, scratch, 0), errno(sys.EINVAL))
	})
}

// TestHandlersOnce: SA_RESETHAND, SA_NODEFER and sa_mask of sigaction(2).
func TestHandlersOnce(t *testing.T) {
	s := run(t, func(p *player) {
		depth, deepest, times := 0, 0, 0
		again := func(p *player, sig, _, _ uint64) {
			depth++
			deepest = max(deepest, depth)
			if times++; times < 3 {
				p.Call(nKill, 2, sig)
			}
			depth--
		}
		action(p, abi.SIGUSR1, again, 0, 0)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "handlers that ran", int64(times), 3)
		want(t, p, "depth", int64(deepest), 1)
		times = 0
		action(p, abi.SIGUSR1, again, abi.SA_NODEFER, 0)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "depth with SA_NODEFER", int64(deepest), 3)
		c := catch(p, abi.SIGUSR2, abi.SA_RESETHAND)
		p.Call(nKill, 2, abi.SIGUSR2)
		want(t, p, "handlers that ran", int64(c.times), 1)
		want(t, p, "the handler", int64(actsOn(p, abi.SIGUSR2).Handler), abi.SIG_DFL)
		p.Call(nKill, 2, abi.SIGUSR2)
	})
	if s != proc.Killed(abi.SIGUSR2) {
		t.Errorf("status %#x", s)
	}
}
