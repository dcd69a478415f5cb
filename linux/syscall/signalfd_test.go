package syscall

import (
	"encoding/binary"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
)

const nSignalfd, nSignalfd4, nSigqueueinfo = 282, 289, 129

// thread starts a thread that stores 0 at clear when it ends; the caller has stored another value.
func thread(p *player, f proctest.Program, clear uint64) {
	const flags = abi.CLONE_VM | abi.CLONE_FS | abi.CLONE_FILES | abi.CLONE_SIGHAND | abi.CLONE_THREAD | abi.CLONE_CHILD_CLEARTID
	p.Poke32(clear, 1)
	p.Fork(func(c *player) {
		f(c)
		c.Call(nExit, 0)
	}, nClone, flags, proctest.StackTop-4096, 0, clear)
}

// joined waits until the thread has ended.
func joined(t *testing.T, p *player, clear uint64) {
	t.Helper()
	for end := time.Now().Add(long); p.Peek32(clear) != 0; sleep(p, time.Millisecond) {
		if time.Now().After(end) {
			t.Error("the thread does not end")
			p.Call(nExitGroup, 1)
		}
	}
}

// block sets the signal mask.
func block(p *player, signals ...int) {
	set := uint64(0)
	for _, n := range signals {
		set |= 1 << (n - 1)
	}
	p.Poke64(scratch, set)
	p.Call(nSigmask, abi.SIG_SETMASK, scratch, 0, 8)
}

// newSignalfd makes a signalfd, or changes the set of fd if that is not minus.
func newSignalfd(p *player, fd, flags uint64, signals ...int) int64 {
	set := uint64(0)
	for _, n := range signals {
		set |= 1 << (n - 1)
	}
	p.Poke64(scratch, set)
	return p.Call(nSignalfd4, fd, scratch, 8, flags)
}

// info returns a field of a struct signalfd_siginfo at scratch.
func info(p *player, at uint64) uint32 { return p.Peek32(scratch + at) }

func TestSignalfdReadsSignals(t *testing.T) {
	run(t, func(p *player) {
		block(p, abi.SIGUSR1, abi.SIGUSR2, abi.SIGCHLD, 40)
		fd := uint64(newSignalfd(p, minus, abi.O_NONBLOCK, abi.SIGUSR1, abi.SIGCHLD, 40, abi.SIGKILL))
		want(t, p, "nothing", p.Call(nRead, fd, scratch, 128), errno(sys.EAGAIN))
		want(t, p, "poll", ready(p, fd, 0), 0)
		p.Call(nKill, 2, abi.SIGUSR2)
		want(t, p, "one of no interest", ready(p, fd, 0), 0)
		p.Call(nKill, 2, abi.SIGUSR1)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "poll", ready(p, fd, 0), 1)
		want(t, p, "read", p.Call(nRead, fd, scratch, 1000), 128)
		want(t, p, "signo", int64(info(p, 0)), abi.SIGUSR1)
		want(t, p, "code", int64(int32(info(p, 8))), abi.SI_USER)
		want(t, p, "pid", int64(info(p, 12)), 2)
		child := p.Fork(func(c *player) { c.Call(nExitGroup, 7) }, nFork)
		want(t, p, "the end of a child", ready(p, fd, minus), 1)
		i := abi.Siginfo{Signo: 40, Code: abi.SI_QUEUE}
		i.SetSender(2, 0)
		i.SetValue(0x123456789)
		p.Poke(scratch, abi.Bytes(&i))
		want(t, p, "queue", p.Call(nSigqueueinfo, 2, 40, scratch), 0)
		want(t, p, "queue again", p.Call(nSigqueueinfo, 2, 40, scratch), 0)
		want(t, p, "all at once", p.Call(nRead, fd, scratch, 2000), 3*128)
		want(t, p, "child", int64(info(p, 12)), child)
		want(t, p, "its code", int64(info(p, 8)), abi.CLD_EXITED)
		want(t, p, "its status", int64(info(p, 40)), 7)
		want(t, p, "queued", int64(info(p, 128)), 40)
		want(t, p, "its value", int64(info(p, 128+44)), 0x23456789)
		want(t, p, "as a pointer", int64(binary.LittleEndian.Uint64(p.Peek(scratch+128+48, 8))), 0x123456789)
		want(t, p, "nothing is left", p.Call(nRead, fd, scratch, 128), errno(sys.EAGAIN))
		p.Call(nWait4, uint64(child), 0, 0, 0)
		want(t, p, "another set", newSignalfd(p, fd, 0, abi.SIGUSR2), int64(fd))
		want(t, p, "has what waited", p.Call(nRead, fd, scratch, 128), 128)
		want(t, p, "signo", int64(info(p, 0)), abi.SIGUSR2)
	})
}

// TestSignalfdWakes: a signal, and a change of the set, wake a waiting thread.
func TestSignalfdWakes(t *testing.T) {
	run(t, func(p *player) {
		block(p, abi.SIGUSR1, abi.SIGUSR2)
		fd := uint64(newSignalfd(p, minus, 0, abi.SIGUSR1))
		child := p.Fork(func(c *player) {
			sleep(c, 5*time.Millisecond)
			c.Call(nKill, 2, abi.SIGUSR1)
			sleep(c, 5*time.Millisecond)
			c.Call(nKill, 2, abi.SIGUSR1)
		}, nFork)
		want(t, p, "read", p.Call(nRead, fd, scratch, 128), 128)
		want(t, p, "pid", int64(info(p, 12)), child)
		want(t, p, "poll", ready(p, fd, minus), 1)
		p.Call(nRead, fd, scratch, 128)
		thread(p, func(c *player) {
			want(t, c, "the thread's reading", c.Call(nRead, fd, scratch+256, 128), 128)
			want(t, c, "signo", int64(c.Peek32(scratch+256)), abi.SIGUSR2)
		}, scratch+0x400)
		p.Call(nKill, 2, abi.SIGUSR2)
		sleep(p, 5*time.Millisecond)
		newSignalfd(p, fd, 0, abi.SIGUSR2)
		joined(t, p, scratch+0x400)
		p.Call(nWait4, uint64(child), 0, 0, 0)
	})
}

// TestSignalfdAfterFork: a child reads its own signals, not its parent's, also after exec.
func TestSignalfdAfterFork(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) {
		want(t, p, "after exec", p.Call(nRead, 0, scratch, 128), 128)
		want(t, p, "signo", int64(info(p, 0)), abi.SIGUSR1)
	})
	finish(t, w, begin(t, w, func(p *player) {
		block(p, abi.SIGUSR1)
		fd := uint64(newSignalfd(p, minus, abi.O_NONBLOCK, abi.SIGUSR1))
		set := uint64(p.Call(nEpollCreate1, 0))
		p.Poke(scratch, epollEvent(abi.POLLIN, 5))
		want(t, p, "add", p.Call(nEpollCtl, set, 1, fd, scratch), 0)
		p.Call(nKill, 2, abi.SIGUSR1)
		want(t, p, "epoll", p.Call(nEpollWait, set, scratch, 1, minus), 1)
		child := uint64(p.Fork(func(c *player) {
			want(t, c, "the parent's", c.Call(nRead, fd, scratch, 128), errno(sys.EAGAIN))
			want(t, c, "poll", ready(c, fd, 0), 0)
			c.Call(nKill, 3, abi.SIGUSR1)
			want(t, c, "its own", c.Call(nRead, fd, scratch, 128), 128)
			want(t, c, "out of the parent's set", c.Call(nEpollCtl, set, 2, fd, 0), 0)
		}, nFork))
		p.Call(nWait4, child, 0, 0, 0)
		p.PokeString(pathAddr, "/bin/next")
		p.Call(nExecve, pathAddr, 0, 0)
	}))
}

func TestSignalfdRefuses(t *testing.T) {
	run(t, func(p *player) {
		inval := errno(sys.EINVAL)
		want(t, p, "size", p.Call(nSignalfd4, minus, scratch, 4, 0), inval)
		want(t, p, "no address", p.Call(nSignalfd4, minus, 8, 8, 0), errno(sys.EFAULT))
		want(t, p, "flags", p.Call(nSignalfd4, minus, scratch, 8, 1), inval)
		want(t, p, "no file", p.Call(nSignalfd4, 99, scratch, 8, 0), errno(sys.EBADF))
		p.Call(nPipe, scratch)
		want(t, p, "a pipe", p.Call(nSignalfd4, 0, scratch, 8, 0), inval)
		fd := uint64(p.Call(nSignalfd, minus, scratch, 8))
		want(t, p, "a short reading", p.Call(nRead, fd, scratch, 127), inval)
		want(t, p, "writing", p.Call(nWrite, fd, scratch, 128), inval)
		// A signal with a handler interrupts the read.
		action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) {}, 0, 0)
		setTimer(p, abi.ITIMER_REAL, 5*time.Millisecond, 5*time.Millisecond)
		want(t, p, "interrupted", p.Call(nRead, fd, scratch, 128), errno(sys.EINTR))
	})
}
