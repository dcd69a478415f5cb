package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/linux/proc"
)

const (
	nMknod, nMemfd, nFallocate, nFlock, nUtime, nUtimes, nFutimesat = 133, 319, 285, 73, 132, 235, 261
	nPreadv2, nPwritev2, nExecveat, nCapget, nTgsigqueue, nLinkat   = 327, 328, 322, 125, 297, 265
	nPersonality, nPriorityMax, nPriorityMin, nFstat, nStat         = 135, 146, 147, 5, 4
	nOpenat                                                         = 257
)

// TestFIFOInASystemCall: open waits for the other end, and a signal ends the wait.
func TestFIFOInASystemCall(t *testing.T) {
	t.Cleanup(func() { vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/fifo") })
	run(t, func(p *player) {
		p.PokeString(pathAddr, "/fifo")
		want(t, p, "a device", p.Call(nMknod, pathAddr, abi.S_IFCHR|0600, 0x103), errno(sys.EPERM))
		want(t, p, "mknod", p.Call(nMknod, pathAddr, abi.S_IFIFO|0600, 0), 0)
		want(t, p, "again", p.Call(nMknod, pathAddr, abi.S_IFIFO|0600, 0), errno(sys.EEXIST))
		want(t, p, "no reader", int64(openPath(p, "/fifo", abi.O_WRONLY|abi.O_NONBLOCK)), errno(sys.ENXIO))
		pid := p.Fork(func(c *player) {
			w := openPath(c, "/fifo", abi.O_WRONLY)
			c.Poke(scratch, []byte("text"))
			c.Call(nWrite, w, scratch, 4)
		}, nFork)
		r := openPath(p, "/fifo", abi.O_RDONLY)
		want(t, p, "read", p.Call(nRead, r, scratch, 100), 4)
		want(t, p, "the end", p.Call(nRead, r, scratch, 100), 0)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
		p.Call(nClose, r)
		n := 0
		action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) { n++ }, 0, 0)
		setTimer(p, abi.ITIMER_REAL, 10*time.Millisecond, 10*time.Millisecond)
		want(t, p, "open until a signal", int64(openPath(p, "/fifo", abi.O_RDONLY)), errno(sys.EINTR))
		setTimer(p, abi.ITIMER_REAL, 0, 0)
		want(t, p, "no descriptor is left", p.Call(nClose, 0), errno(sys.EBADF))
	})
}

func TestFilesWithoutNames(t *testing.T) {
	t.Cleanup(func() { vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/named") })
	run(t, func(p *player) {
		p.PokeString(pathAddr, "memory")
		f := uint64(p.Call(nMemfd, pathAddr, 0))
		want(t, p, "fallocate", p.Call(nFallocate, f, 0, 1000, 24), 0)
		want(t, p, "its end", p.Call(nLseek, f, 0, 2), 1024)
		want(t, p, "keep the size", p.Call(nFallocate, f, 1, 1000, 2400), 0)
		want(t, p, "its end", p.Call(nLseek, f, 0, 2), 1024)
		want(t, p, "no shorter", p.Call(nFallocate, f, 0, 0, 1), 0)
		want(t, p, "its end", p.Call(nLseek, f, 0, 2), 1024)
		want(t, p, "holes", p.Call(nFallocate, f, 3, 0, 1), errno(sys.EOPNOTSUPP))
		want(t, p, "around the end", p.Call(nFallocate, f, 0, 1<<63-1, 1<<63-1), errno(sys.EFBIG))
		want(t, p, "too long", p.Call(nFallocate, f, 0, 1<<50, 1), errno(sys.EFBIG))
		want(t, p, "nothing", p.Call(nFallocate, f, 0, 0, 0), errno(sys.EINVAL))
		want(t, p, "flags", p.Call(nMemfd, pathAddr, 0x100), errno(sys.EINVAL))
		tmp := openPath(p, "/", abi.O_TMPFILE|abi.O_RDWR)
		p.Call(nWrite, tmp, pathAddr, 5)
		p.PokeString(scratch, "/named")
		p.PokeString(pathAddr, "")
		want(t, p, "linkat", p.Call(nLinkat, tmp, pathAddr, cwd, scratch, abi.AT_EMPTY_PATH), 0)
		want(t, p, "stat", p.Call(nStat, scratch, scratch+0x100), 0)
		want(t, p, "its size", int64(p.Peek64(scratch+0x100+48)), 5)
	})
}

func TestFlock(t *testing.T) {
	run(t, func(p *player) {
		a := openNew(p, "/locked", abi.O_RDWR)
		want(t, p, "lock", p.Call(nFlock, a, lockExclusive), 0)
		want(t, p, "no such thing", p.Call(nFlock, a, 16), errno(sys.EINVAL))
		pid := p.Fork(func(c *player) { // the same open file
			want(t, c, "again", c.Call(nFlock, a, lockExclusive|lockNonblock), 0)
			c.Call(nFlock, a, lockNone)
		}, nFork)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
	})
}

// TestControlFilesCannotBeCompared: nodes of control files contain functions, and comparing them
// panics; copy_file_range and flock did that.
func TestControlFilesCannotBeCompared(t *testing.T) {
	node := ctl.File{Read: func() ([]byte, error) { return []byte("text"), nil }, Write: func([]byte) error { return nil }}
	if err := vfs.Root.Bind("/control", node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vfs.Root.Unbind("/control") })
	s := run(t, func(p *player) {
		a, b := openPath(p, "/control", abi.O_RDWR), openPath(p, "/control", abi.O_RDWR)
		p.Call(nCopyFileRange, a, 0, b, 0, 4, 0)
		want(t, p, "flock", p.Call(nFlock, a, lockExclusive), 0)
		want(t, p, "flock", p.Call(nFlock, b, lockShared|lockNonblock), errno(sys.EAGAIN))
	})
	if s != 0 {
		t.Errorf("status %#x", s)
	}
}

func TestTimesOfFiles(t *testing.T) {
	t.Cleanup(func() { vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/times") })
	run(t, func(p *player) {
		f := openPath(p, "/times", abi.O_CREAT|abi.O_RDWR)
		modified := func() int64 {
			p.Call(nFstat, f, scratch+0x100)
			return int64(p.Peek64(scratch + 0x100 + 88))
		}
		p.Poke64(scratch, 5)
		p.Poke64(scratch+8, 6)
		want(t, p, "utime", p.Call(nUtime, pathAddr, scratch), 0)
		want(t, p, "modified", modified(), 6)
		p.Poke64(scratch+16, 7)
		want(t, p, "utimes", p.Call(nUtimes, pathAddr, scratch), 0)
		want(t, p, "modified", modified(), 7)
		p.Poke64(scratch+24, 1e6)
		want(t, p, "futimesat", p.Call(nFutimesat, cwd, pathAddr, scratch), errno(sys.EINVAL))
		want(t, p, "now", p.Call(nUtimes, pathAddr, 0), 0)
		if modified() < 1e9 {
			t.Error("it was not modified now")
		}
	})
}

func TestVectorsAtAPlace(t *testing.T) {
	run(t, func(p *player) {
		f := openNew(p, "/vectors", abi.O_RDWR)
		p.Poke(scratch, []byte("abcdef"))
		p.Poke(scratch+0x100, abi.Bytes(&abi.Iovec{Base: scratch, Len: 6}))
		want(t, p, "pwritev2 at the position", p.Call(nPwritev2, f, scratch+0x100, 1, minus, 0, 0), 6)
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 6)
		want(t, p, "preadv2", p.Call(nPreadv2, f, scratch+0x100, 1, 2, 0, 0), 4)
		want(t, p, "position", p.Call(nLseek, f, 0, 1), 6)
		want(t, p, "flags", p.Call(nPreadv2, f, scratch+0x100, 1, 2, 0, 1), errno(sys.EOPNOTSUPP))
	})
}

func TestExecveat(t *testing.T) {
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) { p.Call(nExitGroup, 7) })
	s := finish(t, w, begin(t, w, func(p *player) {
		dir := openPath(p, "/bin", abi.O_RDONLY|abi.O_DIRECTORY)
		p.PokeString(pathAddr, "")
		want(t, p, "no path", p.Call(nExecveat, dir, pathAddr, 0, 0, 0), errno(sys.ENOENT))
		want(t, p, "flags", p.Call(nExecveat, dir, pathAddr, 0, 0, 1), errno(sys.EINVAL))
		want(t, p, "no file", p.Call(nExecveat, 77, pathAddr, 0, 0, abi.AT_EMPTY_PATH), errno(sys.EBADF))
		p.PokeString(pathAddr, "next")
		// Simulated programs are known by the path that exec is given, so the directory is the root
		// here; relative paths have been walked by then.
		want(t, p, "not in the root", p.Call(nExecveat, cwd, pathAddr, 0, 0, 0), errno(sys.ENOENT))
		p.PokeString(pathAddr, "/bin/next")
		p.Call(nExecveat, dir, pathAddr, 0, 0, abi.AT_SYMLINK_NOFOLLOW)
	}))
	if s != proc.Exited(7) {
		t.Errorf("status %#x", s)
	}
}

func TestSmallAnswers(t *testing.T) {
	run(t, func(p *player) {
		want(t, p, "personality", p.Call(nPersonality, 0xffffffff), 0)
		want(t, p, "highest", p.Call(nPriorityMax, 1), 99)
		want(t, p, "lowest", p.Call(nPriorityMin, 1), 1)
		want(t, p, "no policy", p.Call(nPriorityMin, 4), errno(sys.EINVAL))
		p.Poke32(scratch, capVersion3)
		p.Poke32(scratch+4, 0)
		want(t, p, "capget", p.Call(nCapget, scratch, scratch+8), 0)
		want(t, p, "effective", int64(p.Peek64(scratch+8)), -1)
		want(t, p, "the rest", int64(p.Peek32(scratch+20)), 0x1ff)
		p.Poke32(scratch, 1)
		want(t, p, "no version", p.Call(nCapget, scratch, scratch+8), errno(sys.EINVAL))
		want(t, p, "the version", int64(p.Peek32(scratch)), capVersion3)
		var got abi.Siginfo
		action(p, 40, func(p *player, _, info, _ uint64) { got = siginfoAt(p, info) }, abi.SA_SIGINFO, 0)
		i := abi.Siginfo{Code: abi.SI_QUEUE}
		i.SetValue(99)
		p.Poke(scratch, abi.Bytes(&i))
		want(t, p, "rt_tgsigqueueinfo", p.Call(nTgsigqueue, 2, 2, 40, scratch), 0)
		if got.Value() != 99 || got.Signo != 40 {
			t.Errorf("%+v", got)
		}
		want(t, p, "no thread", p.Call(nTgsigqueue, 2, 3, 40, scratch), errno(sys.ESRCH))
	})
}
