package syscall

import (
	"bytes"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
	"sonde/linux/space"
)

const (
	nOpen, nPread, nLseek, nMincore, nMmap, nMunmap, nUnlink = 2, 17, 8, 27, 9, 11, 87
	nCopyFileRange                                           = 326
)

const pathAddr = proctest.Data + 0x2000

// openNew makes a file and removes its name.
func openNew(p *player, path string, flags uint64) uint64 {
	p.Poke(pathAddr, append([]byte(path), 0))
	fd := uint64(p.Call(nOpen, pathAddr, flags|abi.O_CREAT, 0o600))
	p.Call(nUnlink, pathAddr)
	return fd
}

func TestCopyFileRange(t *testing.T) {
	run(t, func(p *player) {
		from, to := openNew(p, "/from", abi.O_RDWR), openNew(p, "/to", abi.O_RDWR)
		p.Poke(scratch, []byte("0123456789"))
		p.Call(nWrite, from, scratch, 10)
		want(t, p, "at the end", p.Call(nCopyFileRange, from, 0, to, 0, 100, 0), 0)
		p.Call(nLseek, from, 2, 0)
		want(t, p, "by position", p.Call(nCopyFileRange, from, 0, to, 0, 3, 0), 3)
		want(t, p, "position", p.Call(nLseek, from, 0, 1), 5)
		p.Poke64(scratch, 8)
		p.Poke64(scratch+8, 3)
		want(t, p, "by offset, to the end", p.Call(nCopyFileRange, from, scratch, to, scratch+8, 100, 0), 2)
		want(t, p, "offset", int64(p.Peek64(scratch)), 10)
		want(t, p, "offset", int64(p.Peek64(scratch+8)), 5)
		want(t, p, "position", p.Call(nLseek, from, 0, 1), 5)
		want(t, p, "all", p.Call(nPread, to, scratch, 100, 0), 5)
		if got := p.Peek(scratch, 5); !bytes.Equal(got, []byte("23489")) {
			t.Errorf("copied %q", got)
		}
	})
}

func TestCopyFileRangeRefuses(t *testing.T) {
	run(t, func(p *player) {
		f, g := openNew(p, "/from", abi.O_RDWR), openNew(p, "/to", abi.O_RDWR|abi.O_APPEND)
		p.Poke(scratch, make([]byte, 64))
		p.Call(nWrite, f, scratch, 64)
		p.Poke64(scratch, 0)
		p.Poke64(scratch+8, 10)
		want(t, p, "overlap", p.Call(nCopyFileRange, f, scratch, f, scratch+8, 11, 0), errno(sys.EINVAL))
		want(t, p, "no overlap", p.Call(nCopyFileRange, f, scratch, f, scratch+8, 10, 0), 10)
		want(t, p, "append", p.Call(nCopyFileRange, f, scratch, g, 0, 10, 0), errno(sys.EBADF))
		want(t, p, "flags", p.Call(nCopyFileRange, f, scratch, f, scratch+8, 1, 1), errno(sys.EINVAL))
		want(t, p, "no file", p.Call(nCopyFileRange, f, scratch, 99, 0, 1, 0), errno(sys.EBADF))
		p.Call(nPipe, scratch)
		want(t, p, "a pipe", p.Call(nCopyFileRange, f, 0, uint64(p.Peek32(scratch+4)), 0, 1, 0), errno(sys.EINVAL))
		p.Poke64(scratch, minus)
		want(t, p, "offset", p.Call(nCopyFileRange, f, scratch, f, 0, 1, 0), errno(sys.EINVAL))
	})
}

func TestMincore(t *testing.T) {
	run(t, func(p *player) {
		const n = 1000 // more than one piece
		at := uint64(p.Call(nMmap, 0, n*space.PageSize, abi.PROT_READ|abi.PROT_WRITE, abi.MAP_PRIVATE|abi.MAP_ANONYMOUS, minus, 0))
		p.Poke(at+600*space.PageSize, []byte{1})
		want(t, p, "mincore", p.Call(nMincore, at, n*space.PageSize, scratch), 0)
		var there [n]byte
		there[600] = 1
		if got := p.Peek(scratch, n); !bytes.Equal(got, there[:]) {
			t.Errorf("pages %v", got)
		}
		want(t, p, "between pages", p.Call(nMincore, at+1, 1, scratch), errno(sys.EINVAL))
		want(t, p, "no address for it", p.Call(nMincore, at, 1, 8), errno(sys.EFAULT))
		p.Call(nMunmap, at+space.PageSize, space.PageSize)
		want(t, p, "a hole", p.Call(nMincore, at, 3*space.PageSize, scratch), errno(sys.ENOMEM))
		want(t, p, "around the end", p.Call(nMincore, at, minus&^0xfff, scratch), errno(sys.ENOMEM))
		want(t, p, "around all", p.Call(nMincore, at, minus-0xffe, scratch), errno(sys.ENOMEM))
	})
}

// TestWaitingStoresTheTimeThatIsLeft: both if an event comes before the timeout, and after the
// timeout.
func TestWaitingStoresTheTimeThatIsLeft(t *testing.T) {
	const nSelect, nPselect, limit, set = 23, 270, scratch + 0x100, scratch + 0x200
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		p.Call(nWrite, 1, scratch, 1)
		ready := func(call uint64) int64 {
			if call == nPpoll {
				p.Poke(set, abi.Bytes(&abi.PollFD{FD: 0, Events: abi.POLLIN}))
				return p.Call(call, set, 1, limit, 0, 0)
			}
			p.Poke64(set, 1)
			return p.Call(call, 1, set, 0, 0, limit, 0)
		}
		for _, call := range []uint64{nSelect, nPselect, nPpoll} {
			p.Poke64(limit, 100)
			p.Poke64(limit+8, 0)
			want(t, p, "ready", ready(call), 1)
			if s := p.Peek64(limit); s < 30 || s >= 100 {
				t.Errorf("call %d: %d s are left of 100", call, s)
			}
		}
		p.Call(nRead, 0, scratch, 1)
		for _, call := range []uint64{nSelect, nPselect, nPpoll} {
			p.Poke64(limit, 0)
			p.Poke64(limit+8, 1000)
			want(t, p, "not ready", ready(call), 0)
			want(t, p, "left", int64(p.Peek64(limit)|p.Peek64(limit+8)), 0)
		}
	})
}
