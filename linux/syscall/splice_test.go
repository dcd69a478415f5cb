package syscall

import (
	"bytes"
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
)

const nSplice, nTee, nVmsplice = 275, 276, 278

// newPipe makes a pipe.
func newPipe(p *player, flags uint64) (r, w uint64) {
	p.Call(nPipe2, scratch, flags)
	return uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch + 4))
}

// TestSpliceMovesALot: nothing is lost in a pipe that becomes full again and again.
func TestSpliceMovesALot(t *testing.T) {
	const size, piece = 300_000, 0x4000
	run(t, func(p *player) {
		from, to := openNew(p, "/from", abi.O_RDWR), openNew(p, "/to", abi.O_RDWR)
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i * 7 >> 3)
		}
		for at := 0; at < size; at += piece {
			n := min(piece, size-at)
			p.Poke(scratch, data[at:at+n])
			p.Call(nWrite, from, scratch, uint64(n))
		}
		p.Call(nLseek, from, 0, 0)
		r, w := newPipe(p, 0)
		child := p.Fork(func(c *player) {
			c.Call(nClose, r)
			for total := int64(0); total < size; {
				n := c.Call(nSplice, from, 0, w, 0, size, 0)
				if n <= 0 {
					t.Errorf("after %d: %d", total, n)
					return
				}
				total += n
			}
		}, nFork)
		p.Call(nClose, w)
		total := int64(0)
		for {
			n := p.Call(nSplice, r, 0, to, 0, size, 0)
			if n <= 0 {
				want(t, p, "the end", n, 0)
				break
			}
			total += n
		}
		want(t, p, "all", total, size)
		for at := 0; at < size; at += piece {
			n := min(piece, size-at)
			want(t, p, "read", p.Call(nPread, to, scratch, uint64(n), uint64(at)), int64(n))
			if !bytes.Equal(p.Peek(scratch, n), data[at:at+n]) {
				t.Errorf("%d bytes at %d are others", n, at)
			}
		}
		p.Call(nWait4, uint64(child), 0, 0, 0)
	})
}

// TestSpliceGivesBack: the next reader gets the bytes that could not be written.
func TestSpliceGivesBack(t *testing.T) {
	run(t, func(p *player) {
		r, w := newPipe(p, 0)
		full := uint64(p.Call(nEventfd2, 0, 0)) // it takes 8 bytes, but not this number
		p.Poke(scratch, bytes.Repeat([]byte{0xff}, 8))
		p.Call(nWrite, w, scratch, 8)
		want(t, p, "refused", p.Call(nSplice, r, 0, full, 0, 8, 0), errno(sys.EINVAL))
		p.Poke64(scratch, 0)
		want(t, p, "read", p.Call(nRead, r, scratch, 100), 8)
		want(t, p, "the same", int64(p.Peek64(scratch)), -1)
	})
}

// TestTeeLeavesWhatItCopies: also if the bytes wrap around the end of the buffer.
func TestTeeLeavesWhatItCopies(t *testing.T) {
	run(t, func(p *player) {
		r, w := newPipe(p, 0)
		r2, w2 := newPipe(p, 0)
		for range 5 { // the buffer is a ring
			p.Poke(scratch, bytes.Repeat([]byte("abcdefg"), 2000))
			want(t, p, "write", p.Call(nWrite, w, scratch, 14000), 14000)
			want(t, p, "tee", p.Call(nTee, r, w2, 1<<20, 0), 14000)
			for _, from := range []uint64{r, r2} {
				p.Poke(scratch, make([]byte, 14000))
				want(t, p, "read", p.Call(nRead, from, scratch, 20000), 14000)
				if !bytes.Equal(p.Peek(scratch, 14000), bytes.Repeat([]byte("abcdefg"), 2000)) {
					t.Error("it is something else")
				}
			}
		}
	})
}

// TestSpliceWaits: for bytes; a signal, a kill and closing the other end end the wait.
func TestSpliceWaits(t *testing.T) {
	run(t, func(p *player) {
		r, w := newPipe(p, 0)
		r2, w2 := newPipe(p, 0)
		child := uint64(p.Fork(func(c *player) {
			c.Call(nClose, w)
			want(t, c, "tee", c.Call(nTee, r, w2, 10, 0), 1)
			want(t, c, "splice", c.Call(nSplice, r, 0, w2, 0, 10, 0), 1)
			want(t, c, "at the end", c.Call(nSplice, r, 0, w2, 0, 10, 0), 0)
		}, nFork))
		sleep(p, 5*time.Millisecond)
		p.Call(nWrite, w, scratch, 1)
		want(t, p, "both copies", p.Call(nRead, r2, scratch, 1), 1)
		want(t, p, "both copies", p.Call(nRead, r2, scratch, 1), 1)
		p.Call(nClose, w)
		want(t, p, "wait", p.Call(nWait4, child, 0, 0, 0), int64(child))
		action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) {}, 0, 0)
		x := openNew(p, "/x", abi.O_RDWR)
		setTimer(p, abi.ITIMER_REAL, 5*time.Millisecond, 5*time.Millisecond)
		want(t, p, "interrupted", p.Call(nSplice, r2, 0, x, 0, 1, 0), errno(sys.EINTR))
		setTimer(p, abi.ITIMER_REAL, 0, 0)
		killed := uint64(p.Fork(func(c *player) {
			c.Call(nTee, r2, w2+9, 1, 0)
			c.Call(nSplice, r2, 0, openNew(c, "/x", abi.O_RDWR), 0, 1, 0)
		}, nFork))
		p.Call(nKill, killed, abi.SIGKILL)
		want(t, p, "killed", p.Call(nWait4, killed, 0, 0, 0), int64(killed))
		n := 0
		action(p, abi.SIGPIPE, func(*player, uint64, uint64, uint64) { n++ }, 0, 0)
		p.Call(nClose, r2)
		want(t, p, "nobody reads", p.Call(nSplice, openFilled(p), 0, w2, 0, 1, 0), errno(sys.EPIPE))
		want(t, p, "signals", int64(n), 1)
	})
}

// openFilled opens a file that contains a byte.
func openFilled(p *player) uint64 {
	fd := openNew(p, "/x", abi.O_RDWR)
	p.Call(nWrite, fd, scratch, 1)
	p.Call(nLseek, fd, 0, 0)
	return fd
}
