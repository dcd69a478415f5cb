package syscall

import (
	"errors"
	"io"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/tty"
	"sonde/linux/proc"
)

// Sessions and their terminals: what setsid(2), tty_ioctl(4), "Controlling terminal", and POSIX.1-2017, "Orphaned
// Process Group", specify.

// process returns a player's own process, or that of a number.
func process(p *player, pid int64) *proc.Process {
	found, _ := p.World.Table.Find(int(pid))
	return found
}

// teller has a player write a letter for each signal.
func teller(p *player, wfd uint64, letters map[uint64]byte) {
	for sig, letter := range letters {
		action(p, sig, func(p *player, _, _, _ uint64) {
			p.Poke(aside, []byte{letter})
			p.Call(nWrite, wfd, aside, 1)
		}, 0, 0)
	}
}

// waitsIn waits until a process sleeps in a call.
func waitsIn(t *testing.T, p *player, pid int64, call uint64) {
	t.Helper()
	for end := time.Now().Add(long); ; time.Sleep(time.Millisecond) {
		if w, ok := process(p, pid).Waiting(int(pid)); ok && w.InCall && w.Call == call {
			return
		}
		if time.Now().After(end) {
			t.Errorf("process %d is not in call %d", pid, call)
			return
		}
	}
}

// TestTerminalHasOneSession: it controls one, until that session's leader ends.
func TestTerminalHasOneSession(t *testing.T) {
	term := tty.New(io.Discard, nil)
	run(t, func(p *player) {
		leader := func() int64 {
			pid := p.Fork(func(c *player) {
				c.Call(nSetsid)
				c.Call(nPause)
			}, nFork)
			waitsIn(t, p, pid, nPause)
			return pid
		}
		first, second := leader(), leader()
		if err := process(p, first).SetTerminal(term); err != nil {
			t.Error(err)
		}
		if err := process(p, second).SetTerminal(term); !errors.Is(err, sys.EPERM) || process(p, second).Terminal() != nil {
			t.Errorf("a second session gets it: %v", err)
		}
		if n := p.World.Table.SessionOf(term); int64(n) != first {
			t.Errorf("it controls session %d, want %d", n, first)
		}
		p.Call(nKill, uint64(first), abi.SIGTERM)
		reap(t, p, first, proc.Killed(abi.SIGTERM))
		if err := process(p, second).SetTerminal(term); err != nil {
			t.Errorf("when the first has ended: %v", err)
		}
		p.Call(nKill, uint64(second), abi.SIGTERM)
		reap(t, p, second, proc.Killed(abi.SIGTERM))
	})
}

// TestHungUpLeaderContinues: the leader of a session whose terminal goes away gets SIGHUP, and SIGCONT, since it may
// have stopped.
func TestHungUpLeaderContinues(t *testing.T) {
	term := tty.New(io.Discard, nil)
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		fd, wfd := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		pid := p.Fork(func(c *player) {
			c.Call(nSetsid)
			teller(c, wfd, map[uint64]byte{abi.SIGHUP: 'h'})
			c.Call(nKill, uint64(c.Call(nGetpid)), abi.SIGSTOP)
			c.Call(nExitGroup, 3)
		}, nFork)
		want(t, p, "the stop", p.Call(nWait4, uint64(pid), 0, abi.WUNTRACED, 0), pid)
		if err := process(p, pid).SetTerminal(term); err != nil {
			t.Error(err)
		}
		p.World.Table.Disown(term)
		if process(p, pid).Terminal() != nil {
			t.Error("it still has the terminal")
		}
		if process(p, pid).State() == "T" {
			t.Error("it is still stopped")
			p.Call(nKill, uint64(pid), abi.SIGKILL)
			return
		}
		want(t, p, "what it writes", p.Call(nRead, fd, aside, 1), 1)
		want(t, p, "letter", int64(p.Peek(aside, 1)[0]), 'h')
		reap(t, p, pid, proc.Exited(3))
	})
}

// TestZombiesContinueNobody: a group whose only member with a parent in another group of the session is a zombie is
// orphaned: a stopped process in it gets SIGHUP and continues, and is not stopped by the terminal again.
func TestZombiesContinueNobody(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		fd, wfd := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		inner := make(chan int64, 1)
		ended := make(chan bool)
		shell := p.Fork(func(s *player) {
			s.Call(nSetsid)
			job := s.Fork(func(j *player) {
				j.Call(nSetpgid, 0, 0)
				b := j.Fork(func(b *player) {
					teller(b, wfd, map[uint64]byte{abi.SIGHUP: 'h'})
					b.Call(nKill, uint64(b.Call(nGetpid)), abi.SIGSTOP)
					b.Call(nKill, uint64(b.Call(nGetpid)), abi.SIGTSTP) // nobody could continue it
					b.Poke(aside, []byte{'e'})
					b.Call(nWrite, wfd, aside, 1)
				}, nFork)
				j.Call(nWait4, uint64(b), 0, abi.WUNTRACED, 0)
				if process(j, b).Orphaned() {
					t.Error("the group is orphaned while its first process is there")
				}
				inner <- b
			}, nFork)
			s.Call(nWaitid, abi.P_PID, uint64(job), scratch, abi.WEXITED|abi.WNOWAIT, 0) // it stays a zombie
			close(ended)
			s.Call(nPause)
		}, nFork)
		b := <-inner
		<-ended
		if of := process(p, b); of != nil && (!of.Orphaned() || of.State() == "T") {
			t.Errorf("the group is orphaned: %v; its process is in state %s", of.Orphaned(), of.State())
			p.Call(nKill, uint64(b), abi.SIGKILL)
			p.Call(nKill, uint64(shell), abi.SIGKILL)
			return
		}
		for _, letter := range "he" {
			if p.Call(nRead, fd, aside, 1) != 1 || rune(p.Peek(aside, 1)[0]) != letter {
				t.Errorf("no %c", letter)
			}
		}
		p.Call(nKill, uint64(shell), abi.SIGKILL)
		reap(t, p, shell, proc.Killed(abi.SIGKILL))
		for p.Call(nKill, uint64(b), abi.SIGKILL) == 0 { // until it is gone
			time.Sleep(time.Millisecond)
		}
	})
}

// TestMaskOfPpollAfterAStop: ppoll has its mask also when its process has stopped and continued meanwhile, and the old
// one is there again when it returns.
func TestMaskOfPpollAfterAStop(t *testing.T) {
	const one, two = 1 << (abi.SIGUSR1 - 1), 1 << (abi.SIGUSR2 - 1)
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		fd, wfd := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		pid := p.Fork(func(c *player) {
			teller(c, wfd, map[uint64]byte{abi.SIGUSR1: '1', abi.SIGUSR2: '2'})
			mask(c, abi.SIGUSR1)
			c.Poke64(scratch, two)
			want(t, c, "ppoll", c.Call(nPpoll, 0, 0, 0, scratch, 8), errno(sys.EINTR))
			want(t, c, "the mask afterwards", int64(process(c, c.Call(nGetpid)).Facts().Blocked), one)
		}, nFork)
		for range 2 {
			waitsIn(t, p, pid, nPpoll)
			slept := process(p, pid).Facts().Used.Sleeps
			p.Call(nKill, uint64(pid), abi.SIGSTOP)
			want(t, p, "the stop", p.Call(nWait4, uint64(pid), 0, abi.WUNTRACED, 0), pid)
			want(t, p, "the mask while it is stopped", int64(process(p, pid).Facts().Blocked), two)
			p.Call(nKill, uint64(pid), abi.SIGCONT)
			for end := time.Now().Add(long); process(p, pid).Facts().Used.Sleeps == slept && time.Now().Before(end); time.Sleep(time.Millisecond) {
			}
		}
		waitsIn(t, p, pid, nPpoll)
		p.Call(nKill, uint64(pid), abi.SIGUSR2) // blocked in ppoll
		p.Call(nKill, uint64(pid), abi.SIGUSR1)
		reap(t, p, pid, 0)
		for _, letter := range "12" {
			want(t, p, "read", p.Call(nRead, fd, aside, 1), 1)
			want(t, p, "the next handler", int64(p.Peek(aside, 1)[0]), int64(letter))
		}
	})
}
