package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
)

const (
	nKcmp, nPidfdGetfd, nGetRobust, nSetRobust, nOpenat2 = 312, 438, 274, 273, 437
	nStatx, nSchedYield, nDup, nUname                    = 332, 24, 32, 63
	nSchedSetattr, nSchedGetattr                         = 314, 315
	nUstat, nSethostname, nCloseRange                    = 136, 170, 436
)

func TestKcmpOfAChild(t *testing.T) {
	run(t, func(p *player) {
		self := uint64(p.Call(nGetpid))
		f := openNew(p, "/compared", abi.O_RDWR)
		g := uint64(p.Call(nDup, f))
		other := openPath(p, "/", abi.O_RDONLY)
		kcmp := func(pid, kind, a, b uint64) int64 { return p.Call(nKcmp, self, pid, kind, a, b) }
		want(t, p, "one file twice", kcmp(self, kcmpFile, f, g), 0)
		if v, w := p.Call(nKcmp, self, self, kcmpFile, f, other), p.Call(nKcmp, self, self, kcmpFile, other, f); v+w != 3 || v == 0 || w == 0 {
			t.Errorf("two files are in the order %d, %d", v, w)
		}
		child := func(flags uint64) uint64 {
			return uint64(p.Fork(func(c *player) { c.Call(nPause) }, nClone, flags|abi.SIGCHLD))
		}
		pid := child(0)
		want(t, p, "the same file", kcmp(pid, kcmpFile, f, f), 0)
		for _, kind := range []uint64{kcmpVM, kcmpFiles, kcmpFS, kcmpSighand} {
			if v := kcmp(pid, kind, 0, 0); v != 1 && v != 2 {
				t.Errorf("part %d of a child is like its parent's: %d", kind, v)
			}
		}
		want(t, p, "no queue for a disk", kcmp(pid, kcmpIO, 0, 0), 0)
		shares := child(abi.CLONE_FS | abi.CLONE_FILES)
		want(t, p, "shared files", kcmp(shares, kcmpFiles, 0, 0), 0)
		want(t, p, "shared directory", kcmp(shares, kcmpFS, 0, 0), 0)
		want(t, p, "no kind", kcmp(pid, 99, 0, 0), errno(sys.EINVAL))
		want(t, p, "no descriptor", kcmp(pid, kcmpFile, f, 99), errno(sys.EBADF))
		want(t, p, "no process", kcmp(4000, kcmpVM, 0, 0), errno(sys.ESRCH))
		for _, c := range []uint64{pid, shares} {
			p.Call(nKill, c, abi.SIGKILL)
			p.Call(nWait4, c, 0, 0, 0)
		}
	})
}

func TestPidfdGetfd(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		r, w := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		pid := p.Fork(func(c *player) {
			f := openNew(c, "/theirs", abi.O_RDWR)
			c.Poke(scratch, []byte{byte(f)})
			c.Call(nWrite, f, scratch, 1)
			c.Call(nWrite, w, scratch, 1)
			c.Call(nPause)
		}, nFork)
		fd := uint64(p.Call(nPidfdOpen, uint64(pid), 0))
		p.Call(nRead, r, scratch, 1)
		theirs := uint64(p.Peek(scratch, 1)[0])
		mine := uint64(p.Call(nPidfdGetfd, fd, theirs, 0))
		want(t, p, "its position", p.Call(nLseek, mine, 0, 1), 1)
		want(t, p, "close on exec", p.Call(nFcntl, mine, abi.F_GETFD, 0), 1)
		want(t, p, "flags", p.Call(nPidfdGetfd, fd, theirs, 1), errno(sys.EINVAL))
		want(t, p, "no pidfd", p.Call(nPidfdGetfd, r, theirs, 0), errno(sys.EBADF))
		want(t, p, "no descriptor", p.Call(nPidfdGetfd, fd, 99, 0), errno(sys.EBADF))
		p.Call(nKill, uint64(pid), abi.SIGKILL)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
		want(t, p, "an ended one", p.Call(nPidfdGetfd, fd, theirs, 0), errno(sys.ESRCH))
	})
}

// TestWhatAThreadIsTold: small calls whose results are numbers.
func TestWhatAThreadIsTold(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nSetRobust, scratch+0x200, 24)
		want(t, p, "get_robust_list", p.Call(nGetRobust, 0, scratch, scratch+8), 0)
		want(t, p, "the list", int64(p.Peek64(scratch)), scratch+0x200)
		want(t, p, "its length", int64(p.Peek64(scratch+8)), 24)
		want(t, p, "nobody's list", p.Call(nGetRobust, 4000, scratch, scratch+8), errno(sys.ESRCH))
		p.Call(nSetRobust, 0, 24)
		want(t, p, "ustat", p.Call(nUstat, 1, scratch), 0)
		want(t, p, "no device", p.Call(nUstat, 0x7777, scratch), errno(sys.EINVAL))
		want(t, p, "no such group", p.Call(nWait4, 1<<31, 0, 0, 0), errno(sys.ESRCH))
		want(t, p, "a timer to nowhere", p.Call(nTimerSettime, 0, 0, 0, 0), errno(sys.EINVAL))
		want(t, p, "statx's reserved bit", p.Call(nStatx, cwd, pathAddr, 0, 1<<31, scratch), errno(sys.EINVAL))
		f := openNew(p, "/in", abi.O_RDONLY)
		want(t, p, "sendfile to what is read", p.Call(nSendfile, f, f, 0, 1), errno(sys.EBADF))
		want(t, p, "mmap of nothing", p.Call(nMmap, 0, 0, 3, abi.MAP_SHARED, f, 0), errno(sys.EINVAL))
		want(t, p, "MAP_SYNC", p.Call(nMmap, 0, 4096, 1, abi.MAP_SHARED_VALIDATE|0x80000, f, 0), errno(sys.EOPNOTSUPP))
	})
}

func TestNamesOfTheMachine(t *testing.T) {
	old := nodeName.Get()
	defer nodeName.Set(old)
	run(t, func(p *player) {
		p.PokeString(scratch, "other")
		want(t, p, "sethostname", p.Call(nSethostname, scratch, 5), 0)
		p.Call(nUname, scratch)
		if got := string(p.Peek(scratch+65, 6)); got != "other\x00" {
			t.Errorf("uname says %q", got)
		}
		want(t, p, "too long", p.Call(nSethostname, scratch, 65), errno(sys.EINVAL))
		want(t, p, "negative", p.Call(nSethostname, scratch, minus), errno(sys.EINVAL))
		want(t, p, "from nowhere", p.Call(nSethostname, 8, 5), errno(sys.EFAULT))
	})
}

func TestPersonality(t *testing.T) {
	run(t, func(p *player) {
		want(t, p, "at first", p.Call(nPersonality, 0xffffffff), 0)
		want(t, p, "uname 2.6", p.Call(nPersonality, uname26), 0)
		release := func(p *player) string {
			p.Call(nUname, scratch)
			return string(p.Peek(scratch+130, 7))
		}
		pid := p.Fork(func(c *player) {
			if got := release(c); got != "2.6.61-" {
				t.Errorf("a child's uname says %q", got)
			}
			c.Call(nPersonality, 0)
			if got := release(c); got != "6.1.0-s" {
				t.Errorf("then %q", got)
			}
		}, nFork)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
		want(t, p, "and back", p.Call(nPersonality, stickyTimeouts), uname26)
		p.Poke64(scratch, 0)
		p.Poke64(scratch+8, 2000)
		want(t, p, "select", p.Call(nSelect, 0, 0, 0, 0, scratch), 0)
		want(t, p, "its time stays", int64(p.Peek64(scratch+8)), 2000)
		p.Call(nPersonality, 0)
		want(t, p, "select", p.Call(nSelect, 0, 0, 0, 0, scratch), 0)
		want(t, p, "and is taken", int64(p.Peek64(scratch+8)), 0)
	})
}

// TestCloseRangeOfItsOwn: CLOSE_RANGE_UNSHARE does not change the other process's table.
func TestCloseRangeOfItsOwn(t *testing.T) {
	run(t, func(p *player) {
		f := openNew(p, "/shared", abi.O_RDWR)
		pid := p.Fork(func(c *player) {
			want(t, c, "close_range", c.Call(nCloseRange, f, f, closeRangeUnshare), 0)
			want(t, c, "closed", c.Call(nFstat, f, scratch+0x400), errno(sys.EBADF))
		}, nClone, abi.CLONE_FILES|abi.SIGCHLD)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
		want(t, p, "still there", p.Call(nFstat, f, scratch), 0)
	})
}

// TestSubreaper: orphans of a child go to the nearest subreaper above, which is told when they end.
func TestSubreaper(t *testing.T) {
	run(t, func(p *player) {
		self := p.Call(nGetpid)
		want(t, p, "set", p.Call(nPrctl, 36, 1), 0)
		want(t, p, "get", p.Call(nPrctl, 37, scratch), 0)
		want(t, p, "it is", int64(p.Peek32(scratch)), 1)
		p.Call(nPipe, scratch)
		r, w := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		child := p.Fork(func(c *player) {
			c.Call(nPrctl, 37, scratch)
			want(t, c, "a child is none", int64(c.Peek32(scratch)), 0)
			parent := c.Call(nGetpid)
			c.Fork(func(g *player) {
				for g.Call(nGetppid) == parent {
					g.Call(nSchedYield)
				}
				g.Poke(scratch, []byte{byte(g.Call(nGetppid))})
				g.Call(nWrite, w, scratch, 1)
				g.Call(nExitGroup, 5)
			}, nFork)
		}, nFork)
		want(t, p, "the child", p.Call(nWait4, uint64(child), 0, 0, 0), child)
		p.Call(nRead, r, scratch, 1)
		want(t, p, "the grandchild's parent", int64(p.Peek(scratch, 1)[0]), self)
		if pid := p.Call(nWait4, minus, scratch, 0, 0); pid <= child {
			t.Errorf("wait for the grandchild: %d", pid)
		}
		want(t, p, "its status", int64(p.Peek32(scratch)), 5<<8)
		child = p.Fork(func(c *player) {
			ended := c.Fork(func(g *player) { g.Call(nExitGroup, 6) }, nFork)
			c.Call(nWaitid, abi.P_PID, uint64(ended), 0, abi.WEXITED|abi.WNOWAIT, 0)
		}, nFork)
		want(t, p, "another child", p.Call(nWait4, uint64(child), 0, 0, 0), child)
		p.Call(nWait4, minus, scratch, 0, 0)
		want(t, p, "what had ended before it", int64(p.Peek32(scratch)), 6<<8)
	})
}

func TestSchedAttr(t *testing.T) {
	run(t, func(p *player) {
		set := func(v schedAttr) int64 {
			if v.Size == 0 {
				v.Size = schedAttrSize
			}
			p.Poke(scratch, abi.Bytes(&v))
			return p.Call(nSchedSetattr, 0, scratch, 0)
		}
		get := func() (v schedAttr) {
			want(t, p, "get", p.Call(nSchedGetattr, 0, scratch, schedAttrSize, 0), 0)
			copy(abi.Bytes(&v), p.Peek(scratch, schedAttrSize))
			return v
		}
		want(t, p, "usual", set(schedAttr{Nice: 5}), 0)
		if v := get(); v.Nice != 5 || v.Policy != 0 || v.Size != schedAttrSize {
			t.Errorf("%+v", v)
		}
		want(t, p, "round robin", set(schedAttr{Policy: 2, Priority: 7, Flags: attrResetOnFork}), 0)
		if v := get(); v.Priority != 7 || v.Policy != 2 || v.Flags != attrResetOnFork {
			t.Errorf("%+v", v)
		}
		want(t, p, "deadline", set(schedAttr{Policy: 6, Runtime: 10e6, Deadline: 30e6, Period: 30e6}), 0)
		if v := get(); v.Policy != 6 || v.Runtime != 10e6 || v.Deadline != 30e6 || v.Period != 30e6 {
			t.Errorf("%+v", v)
		}
		want(t, p, "a fork with a deadline", p.Fork(func(*player) {}, nFork), errno(sys.EAGAIN))
		for what, v := range map[string]schedAttr{
			"more than the deadline": {Policy: 6, Runtime: 31e6, Deadline: 30e6, Period: 30e6}, "no policy": {Policy: 9},
			"no priority": {Policy: 1}, "flags": {Flags: 0x80}, "too little": {Policy: 6, Runtime: 100, Deadline: 30e6},
		} {
			want(t, p, what, set(v), errno(sys.EINVAL))
		}
		want(t, p, "still so", int64(get().Policy), 6)
		want(t, p, "too short", set(schedAttr{Size: 40}), errno(sys.E2BIG))
		want(t, p, "how long it is", int64(p.Peek32(scratch)), schedAttrSize)
		p.Poke64(scratch+56, 1)
		want(t, p, "more than is known", set(schedAttr{Size: 64}), errno(sys.E2BIG))
		p.Poke64(scratch+56, 0)
		want(t, p, "longer, with zeros", set(schedAttr{Size: 64, Policy: 3}), 0)
		for what, r := range map[string]int64{
			"no address": p.Call(nSchedSetattr, 0, 0, 0), "flags": p.Call(nSchedSetattr, 0, scratch, 1),
			"get, short": p.Call(nSchedGetattr, 0, scratch, 47, 0), "get, flags": p.Call(nSchedGetattr, 0, scratch, 48, 1),
			"get nowhere": p.Call(nSchedGetattr, 0, 0, 48, 0),
		} {
			want(t, p, what, r, errno(sys.EINVAL))
		}
		want(t, p, "nobody", p.Call(nSchedGetattr, 4000, scratch, 48, 0), errno(sys.ESRCH))
		// A process that has ended and has not been waited for still has a policy.
		p.Call(nSchedSetscheduler, 0, 3, scratch)
		pid := p.Fork(func(*player) {}, nFork)
		p.Call(nWaitid, abi.P_PID, uint64(pid), 0, abi.WEXITED|abi.WNOWAIT, 0)
		want(t, p, "a zombie's policy", p.Call(nSchedGetscheduler, uint64(pid)), 3)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
	})
}
