package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
)

const (
	nPidfdOpen, nPidfdSend, nPoll, nClone3, nRseq = 434, 424, 7, 435, 334
)

func siginfoAt(p *player, addr uint64) (i abi.Siginfo) {
	copy(abi.Bytes(&i), p.Peek(addr, 128))
	return i
}

func TestPidfdOfAChild(t *testing.T) {
	run(t, func(p *player) {
		pid := p.Fork(func(c *player) { c.Call(nPause) }, nFork)
		fd := uint64(p.Call(nPidfdOpen, uint64(pid), 0))
		p.Poke(scratch, abi.Bytes(&abi.PollFD{FD: int32(fd), Events: abi.POLLIN}))
		want(t, p, "poll while it runs", p.Call(nPoll, scratch, 1, 0), 0)
		want(t, p, "waitid, no hang", p.Call(nWaitid, abi.P_PIDFD, fd, scratch, abi.WEXITED|abi.WNOHANG, 0), 0)
		want(t, p, "nothing", int64(siginfoAt(p, scratch).Signo), 0)
		want(t, p, "is it there", p.Call(nPidfdSend, fd, 0, 0, 0), 0)
		want(t, p, "another's signal from the kernel", forged(p, fd, abi.SIGTERM, abi.SIGTERM), errno(sys.EPERM))
		want(t, p, "two signals", forged(p, fd, abi.SIGTERM, abi.SIGINT), errno(sys.EINVAL))
		want(t, p, "no signal", p.Call(nPidfdSend, fd, 99, 0, 0), errno(sys.EINVAL))
		want(t, p, "kill", p.Call(nPidfdSend, fd, abi.SIGTERM, 0, 0), 0)
		p.Poke(scratch, abi.Bytes(&abi.PollFD{FD: int32(fd), Events: abi.POLLIN}))
		want(t, p, "poll to the end", p.Call(nPoll, scratch, 1, minus), 1)
		want(t, p, "waitid", p.Call(nWaitid, abi.P_PIDFD, fd, scratch, abi.WEXITED, 0), 0)
		i := siginfoAt(p, scratch)
		want(t, p, "who", whose(i), pid)
		want(t, p, "signal", int64(i.Status()), abi.SIGTERM)
		want(t, p, "again", p.Call(nWaitid, abi.P_PIDFD, fd, scratch, abi.WEXITED, 0), errno(sys.ECHILD))
		want(t, p, "gone", p.Call(nPidfdSend, fd, 0, 0, 0), errno(sys.ESRCH))
		want(t, p, "read", p.Call(nRead, fd, scratch, 8), errno(sys.EINVAL))
	})
}

func whose(i abi.Siginfo) int64 {
	pid, _ := i.Sender()
	return int64(pid)
}

// forged sends a signal with the kernel's si_code.
func forged(p *player, fd, n uint64, signo int32) int64 {
	p.Poke(scratch, abi.Bytes(&abi.Siginfo{Signo: signo, Code: abi.SI_KERNEL}))
	return p.Call(nPidfdSend, fd, n, scratch, 0)
}

func TestPidfdRefuses(t *testing.T) {
	run(t, func(p *player) {
		want(t, p, "no process", p.Call(nPidfdOpen, 12345, 0), errno(sys.ESRCH))
		want(t, p, "number 0", p.Call(nPidfdOpen, 0, 0), errno(sys.EINVAL))
		want(t, p, "flags", p.Call(nPidfdOpen, 2, 1), errno(sys.EINVAL))
		p.Call(nPipe, scratch)
		want(t, p, "a pipe", p.Call(nPidfdSend, 0, 0, 0, 0), errno(sys.EBADF))
		want(t, p, "wait for a pipe", p.Call(nWaitid, abi.P_PIDFD, 0, scratch, abi.WEXITED, 0), errno(sys.EBADF))
		pid := p.Fork(func(c *player) { c.Call(nPause) }, nFork)
		fd := uint64(p.Call(nPidfdOpen, 2, abi.O_NONBLOCK))
		want(t, p, "not a child", p.Call(nWaitid, abi.P_PIDFD, fd, scratch, abi.WEXITED, 0), errno(sys.ECHILD))
		fd = uint64(p.Call(nPidfdOpen, uint64(pid), abi.O_NONBLOCK))
		want(t, p, "it runs", p.Call(nWaitid, abi.P_PIDFD, fd, scratch, abi.WEXITED, 0), errno(sys.EAGAIN))
		p.Call(nKill, uint64(pid), abi.SIGKILL)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
	})
}

// TestClonePidfd: the parent has the descriptor before the child runs; the child does not have it.
func TestClonePidfd(t *testing.T) {
	const stored = scratch + 0x800
	for _, call := range []uint64{nClone, nClone3} {
		run(t, func(p *player) {
			args := []uint64{abi.CLONE_PIDFD | abi.SIGCHLD, 0, stored}
			if call == nClone3 {
				a := abi.CloneArgs{Flags: abi.CLONE_PIDFD, PidFD: stored, ExitSignal: abi.SIGCHLD}
				p.Poke(scratch, abi.Bytes(&a))
				args = []uint64{scratch, uint64(len(abi.Bytes(&a)))}
			}
			p.Poke32(stored, 77)
			pid := p.Fork(func(c *player) {
				if got := c.Call(nClose, 0); got != errno(sys.EBADF) {
					t.Errorf("the child has its own descriptor: %d", got)
				}
				c.Call(nExitGroup, 3)
			}, call, args...)
			fd := uint64(p.Peek32(stored))
			want(t, p, "descriptor", int64(fd), 0)
			want(t, p, "waitid", p.Call(nWaitid, abi.P_PIDFD, fd, scratch, abi.WEXITED, 0), 0)
			i := siginfoAt(p, scratch)
			want(t, p, "who", whose(i), pid)
			want(t, p, "code", int64(i.Status()), 3)
		})
	}
}

func TestClonePidfdRefuses(t *testing.T) {
	run(t, func(p *player) {
		both := uint64(abi.CLONE_PIDFD | abi.CLONE_PARENT_SETTID | abi.SIGCHLD)
		want(t, p, "two numbers at one address", p.Call(nClone, both, 0, scratch), errno(sys.EINVAL))
		thread := uint64(abi.CLONE_PIDFD | abi.CLONE_THREAD | abi.CLONE_SIGHAND | abi.CLONE_VM)
		want(t, p, "a thread", p.Call(nClone, thread, 0, scratch), errno(sys.EINVAL))
		ran := false
		want(t, p, "a bad address", p.Fork(func(*player) { ran = true }, nClone, abi.CLONE_PIDFD|abi.SIGCHLD, 0, 8), errno(sys.EFAULT))
		p.Call(nWait4, minus, 0, 0, 0)
		if ran {
			t.Error("the child of a clone that failed ran")
		}
		want(t, p, "no descriptor is left", p.Call(nClose, 0), errno(sys.EBADF))
	})
}

// TestRseqIsQuiet: every program that uses glibc calls it.
func TestRseqIsQuiet(t *testing.T) {
	w := world(t)
	finish(t, w, begin(t, w, func(p *player) {
		want(t, p, "rseq", p.Call(nRseq, scratch, 32, 0, 0), errno(sys.ENOSYS))
	}))
	if log := w.Log(); len(log) > 0 {
		t.Error(log)
	}
}
