package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
)

// What select(2) and pipe(7) specify.

const nSelect = 23

// selects calls select with a timeout in microseconds (negative: none) and sets of descriptors to
// read and to write, and returns the ready ones of each set.
func selects(p *player, read, write uint64, usec int64) (n int64, canRead, canWrite uint64) {
	const r, w, tv = aside, aside + 8, aside + 16
	p.Poke64(r, read)
	p.Poke64(w, write)
	at := uint64(0)
	if usec >= 0 {
		p.Poke64(tv, uint64(usec/1e6))
		p.Poke64(tv+8, uint64(usec%1e6))
		at = tv
	}
	n = p.Call(nSelect, 64, r, w, 0, at)
	return n, p.Peek64(r), p.Peek64(w)
}

// readyAre fails the test unless select returns exactly these descriptors at once.
func readyAre(t *testing.T, p *player, what string, read, write, canRead, canWrite uint64) {
	t.Helper()
	bits := int64(0)
	for _, set := range []uint64{canRead, canWrite} {
		for ; set != 0; set &= set - 1 {
			bits++
		}
	}
	if n, r, w := selects(p, read, write, 0); n != bits || r != canRead || w != canWrite {
		t.Errorf("%s: %d, to read %#x, to write %#x, want %d, %#x, %#x", what, n, r, w, bits, canRead, canWrite)
	}
}

// TestSelectOfAPipe: both ends of a pipe, while the other one is open and when it is closed.
func TestSelectOfAPipe(t *testing.T) {
	run(t, func(p *player) {
		ignore(p, abi.SIGPIPE)
		pipe := func() (r, w uint64) {
			p.Call(nPipe, scratch)
			return uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch + 4))
		}
		r, w := pipe()
		both := uint64(1)<<r | 1<<w
		readyAre(t, p, "empty", both, both, 0, 1<<w)
		p.Call(nWrite, w, scratch, 1)
		readyAre(t, p, "with a byte", both, both, 1<<r, 1<<w)
		p.Call(nRead, r, scratch, 1)
		p.Call(nClose, w)
		readyAre(t, p, "without writers", 1<<r, 1<<r, 1<<r, 0)
		want(t, p, "read", p.Call(nRead, r, scratch, 1), 0)
		r2, w2 := pipe()
		p.Call(nFcntl, w2, abi.F_SETFL, abi.O_NONBLOCK)
		for p.Call(nWrite, w2, scratch, 4096) > 0 {
		}
		readyAre(t, p, "full", 1<<w2, 1<<w2, 0, 0)
		p.Call(nClose, r2)
		readyAre(t, p, "full, without readers", 1<<w2, 1<<w2, 1<<w2, 1<<w2)
		want(t, p, "write", p.Call(nWrite, w2, scratch, 1), errno(sys.EPIPE))
		p.Call(nClose, w2)
		n, _, _ := selects(p, 1<<w2, 0, 0)
		want(t, p, "a closed descriptor", n, errno(sys.EBADF))
		fd := uint64(p.Call(nEventfd2, 1, 0))
		readyAre(t, p, "in both sets", 1<<fd, 1<<fd|1<<r, 1<<fd, 1<<fd)
	})
}

// TestCloseWakesTheOtherEnd: a thread that waits for a pipe, in select or in read or write.
func TestCloseWakesTheOtherEnd(t *testing.T) {
	for _, c := range []struct {
		what  string
		child func(p *player, r, w uint64) int64
		want  int64
	}{
		{"select of the reading end", func(p *player, r, w uint64) int64 {
			p.Call(nClose, w)
			n, _, _ := selects(p, 1<<r, 0, -1)
			return n
		}, 1},
		{"read", func(p *player, r, w uint64) int64 {
			p.Call(nClose, w)
			return p.Call(nRead, r, aside, 1)
		}, 0},
		{"select of the writing end", func(p *player, r, w uint64) int64 {
			p.Call(nClose, r)
			p.Call(nWrite, w, scratch-0x1000, 65536)
			n, _, _ := selects(p, 0, 1<<w, -1)
			return n
		}, 1},
		{"write", func(p *player, r, w uint64) int64 {
			p.Call(nClose, r)
			p.Call(nWrite, w, scratch-0x1000, 65536)
			return p.Call(nWrite, w, aside, 1)
		}, errno(sys.EPIPE)},
	} {
		run(t, func(p *player) {
			ignore(p, abi.SIGPIPE)
			p.Call(nPipe, scratch)
			r, w := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
			got := make(chan int64, 1)
			pid := p.Fork(func(p *player) { got <- c.child(p, r, w) }, nFork)
			child, err := p.World.Table.Find(int(pid))
			if err != nil {
				t.Error(err)
				return
			}
			asleep(t, child)
			p.Call(nClose, r)
			p.Call(nClose, w)
			select {
			case n := <-got:
				want(t, p, c.what, n, c.want)
			case <-time.After(long):
				t.Errorf("%s is not woken", c.what)
				p.Call(nKill, uint64(pid), abi.SIGKILL)
			}
			p.Call(nWait4, uint64(pid), 0, 0, 0)
		})
	}
}
