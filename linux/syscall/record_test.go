package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
)

const nFcntl = 72

const flockAddr = scratch + 0x800

// lockBytes calls fcntl with a struct flock.
func lockBytes(p *player, fd, cmd uint64, kind, whence int16, start, n int64) int64 {
	p.Poke(flockAddr, abi.Bytes(&abi.Flock{Type: kind, Whence: whence, Start: start, Len: n}))
	return p.Call(nFcntl, fd, cmd, flockAddr)
}

func TestRecordLocksOfProcesses(t *testing.T) {
	run(t, func(p *player) {
		f := openNew(p, "/records", abi.O_RDWR)
		want(t, p, "lock", lockBytes(p, f, abi.F_SETLK, abi.F_WRLCK, 0, 10, 10), 0)
		pid := p.Fork(func(c *player) {
			want(t, c, "of the parent", lockBytes(c, f, abi.F_SETLK, abi.F_RDLCK, 0, 0, 0), errno(sys.EAGAIN))
			want(t, c, "who has it", lockBytes(c, f, abi.F_GETLK, abi.F_RDLCK, 0, 0, 0), 0)
			var got abi.Flock
			copy(abi.Bytes(&got), c.Peek(flockAddr, 32))
			if got != (abi.Flock{Type: abi.F_WRLCK, Start: 10, Len: 10, PID: 2}) {
				t.Errorf("got %+v", got)
			}
			want(t, c, "beside it", lockBytes(c, f, abi.F_SETLK, abi.F_WRLCK, 0, 20, 0), 0)
		}, nFork)
		want(t, p, "wait4", p.Call(nWait4, uint64(pid), 0, 0, 0), pid)
		want(t, p, "the child's went with it", lockBytes(p, f, abi.F_SETLK, abi.F_WRLCK, 0, 0, 0), 0)
		want(t, p, "nothing is in the way", lockBytes(p, f, abi.F_GETLK, abi.F_WRLCK, 0, 7, 8), 0)
		want(t, p, "type", int64(p.Peek32(flockAddr)), abi.F_UNLCK)
		want(t, p, "start", int64(p.Peek64(flockAddr+8)), 7)
	})
}

// TestWaitForARecordLock: the wait ends when the owner releases the lock, when a signal comes, and
// with EDEADLK.
func TestWaitForARecordLock(t *testing.T) {
	run(t, func(p *player) {
		f := openNew(p, "/records", abi.O_RDWR)
		var pipes [2]uint64
		want(t, p, "pipe", p.Call(nPipe, scratch), 0)
		pipes[0], pipes[1] = uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		want(t, p, "lock", lockBytes(p, f, abi.F_SETLK, abi.F_WRLCK, 0, 0, 1), 0)
		pid := p.Fork(func(c *player) {
			want(t, c, "lock", lockBytes(c, f, abi.F_SETLK, abi.F_WRLCK, 0, 1, 1), 0)
			c.Call(nWrite, pipes[1], scratch, 1)
			want(t, c, "wait", lockBytes(c, f, abi.F_SETLKW, abi.F_WRLCK, 0, 0, 1), 0)
		}, nFork)
		p.Call(nRead, pipes[0], scratch, 1)
		n := 0
		action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) { n++ }, 0, 0)
		got := errno(sys.EINTR) // before the child waits, the wait lasts until the signal
		for got == errno(sys.EINTR) {
			setTimer(p, abi.ITIMER_REAL, 10*time.Millisecond, 0)
			got = lockBytes(p, f, abi.F_SETLKW, abi.F_RDLCK, 0, 1, 1)
		}
		want(t, p, "a ring", got, errno(sys.EDEADLK))
		want(t, p, "unlock", lockBytes(p, f, abi.F_SETLK, abi.F_UNLCK, 0, 0, 0), 0)
		setTimer(p, abi.ITIMER_REAL, 0, 0)
		want(t, p, "wait4", p.Call(nWait4, uint64(pid), 0, 0, 0), pid)
	})
}

func TestRecordLocksOfAnOpenFile(t *testing.T) {
	t.Cleanup(func() { vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/records") })
	run(t, func(p *player) {
		a, b := openPath(p, "/records", abi.O_RDWR|abi.O_CREAT), openPath(p, "/records", abi.O_RDWR)
		want(t, p, "lock", lockBytes(p, a, abi.F_OFD_SETLK, abi.F_WRLCK, 0, 0, 5), 0)
		want(t, p, "of the other opening", lockBytes(p, b, abi.F_OFD_SETLK, abi.F_WRLCK, 0, 0, 0), errno(sys.EAGAIN))
		want(t, p, "of the process", lockBytes(p, b, abi.F_SETLK, abi.F_WRLCK, 0, 0, 0), errno(sys.EAGAIN))
		want(t, p, "who has it", lockBytes(p, b, abi.F_OFD_GETLK, abi.F_WRLCK, 0, 0, 0), 0)
		want(t, p, "an open file", int64(int32(p.Peek32(flockAddr+24))), -1)
		p.Poke(flockAddr, abi.Bytes(&abi.Flock{PID: 2}))
		want(t, p, "with a number", p.Call(nFcntl, a, abi.F_OFD_SETLK, flockAddr), errno(sys.EINVAL))
		pid := p.Fork(func(c *player) { c.Call(nClose, a) }, nFork)
		p.Call(nWait4, uint64(pid), 0, 0, 0)
		want(t, p, "the child's descriptor was not the last", lockBytes(p, b, abi.F_SETLK, abi.F_WRLCK, 0, 0, 0), errno(sys.EAGAIN))
		p.Call(nClose, a)
		want(t, p, "closed", lockBytes(p, b, abi.F_OFD_SETLKW, abi.F_WRLCK, 0, 0, 0), 0)
	})
}

func TestRecordLocksRefuse(t *testing.T) {
	t.Cleanup(func() { vfs.Root.UnlinkAt(vfs.Root.RootPlace(), "/records") })
	run(t, func(p *player) {
		f := openPath(p, "/records", abi.O_RDWR|abi.O_CREAT)
		r, w := openPath(p, "/records", abi.O_RDONLY), openPath(p, "/records", abi.O_WRONLY)
		path := openPath(p, "/records", abi.O_PATH)
		p.Call(nWrite, f, pathAddr, 8)
		set := uint64(abi.F_SETLK)
		want(t, p, "to write, opened to read", lockBytes(p, r, set, abi.F_WRLCK, 0, 0, 0), errno(sys.EBADF))
		want(t, p, "to read, opened to write", lockBytes(p, w, set, abi.F_RDLCK, 0, 0, 0), errno(sys.EBADF))
		want(t, p, "a path", lockBytes(p, path, set, abi.F_UNLCK, 0, 0, 0), errno(sys.EBADF))
		want(t, p, "type", lockBytes(p, f, set, 3, 0, 0, 0), errno(sys.EINVAL))
		want(t, p, "whence", lockBytes(p, f, set, abi.F_RDLCK, 3, 0, 0), errno(sys.EINVAL))
		want(t, p, "of nothing", lockBytes(p, f, abi.F_GETLK, abi.F_UNLCK, 0, 0, 0), errno(sys.EINVAL))
		want(t, p, "before the begin", lockBytes(p, f, set, abi.F_RDLCK, 1, -9, 0), errno(sys.EINVAL))
		want(t, p, "behind the end", lockBytes(p, f, set, abi.F_RDLCK, 2, 1<<63-8, 0), errno(sys.EOVERFLOW))
		want(t, p, "address", p.Call(nFcntl, f, set, 8), errno(sys.EFAULT))
		want(t, p, "nothing was locked", lockBytes(p, f, abi.F_OFD_GETLK, abi.F_WRLCK, 0, 0, 0), 0)
		want(t, p, "nothing was locked", int64(p.Peek32(flockAddr)), abi.F_UNLCK)
		want(t, p, "from the position", lockBytes(p, f, set, abi.F_WRLCK, 1, -8, 2), 0)
		want(t, p, "before the size", lockBytes(p, f, set, abi.F_WRLCK, 2, 0, -6), 0)
		want(t, p, "both", lockBytes(p, f, abi.F_OFD_GETLK, abi.F_WRLCK, 0, 0, 0), 0)
		want(t, p, "as one", int64(p.Peek64(flockAddr+16)), 8)
	})
}

func TestExtentOfARecord(t *testing.T) {
	const most = 1<<63 - 1
	for _, c := range []struct {
		origin, start, n, first, last int64
		err                           error
	}{
		{0, 5, 3, 5, 7, nil},
		{10, -5, 0, 5, most, nil},
		{10, 0, -10, 0, 9, nil},
		{10, 0, -11, 0, 0, sys.EINVAL},
		{10, -11, 1, 0, 0, sys.EINVAL},
		{0, most, 1, most, most, nil},
		{0, most, 2, 0, 0, sys.EOVERFLOW},
		{0, 0, most, 0, most - 1, nil},
		{1, 0, most, 1, most, nil},
		{2, 0, most, 0, 0, sys.EOVERFLOW},
		{1, most, 0, 0, 0, sys.EOVERFLOW},
		{0, -most - 1, -most - 1, 0, 0, sys.EINVAL},
	} {
		if first, last, err := extent(c.origin, c.start, c.n); first != c.first || last != c.last || err != c.err {
			t.Errorf("extent(%d, %d, %d): %d, %d, %v", c.origin, c.start, c.n, first, last, err)
		}
	}
}
