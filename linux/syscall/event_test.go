package syscall

import (
	"bytes"
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
)

const (
	nEventfd2, nEpollCreate1, nEpollCtl, nEpollWait, nEpollPwait = 290, 291, 233, 232, 281

	minus = ^uint64(0) // -1
)

// epollEvent is a struct epoll_event.
func epollEvent(events uint32, data uint64) []byte {
	return append([]byte{byte(events), byte(events >> 8), byte(events >> 16), byte(events >> 24)},
		byte(data), byte(data>>8), byte(data>>16), byte(data>>24), byte(data>>32), byte(data>>40), byte(data>>48), byte(data>>56))
}

func TestEpollWaitsForAnEventfd(t *testing.T) {
	run(t, func(p *player) {
		efd := uint64(p.Call(nEventfd2, 0, abi.O_CLOEXEC|abi.O_NONBLOCK))
		set := uint64(p.Call(nEpollCreate1, abi.O_CLOEXEC))
		p.Poke(scratch, epollEvent(abi.POLLIN|1<<31, 0x1122334455667788))
		want(t, p, "add", p.Call(nEpollCtl, set, 1, efd, scratch), 0)
		want(t, p, "add again", p.Call(nEpollCtl, set, 1, efd, scratch), errno(sys.EEXIST))
		want(t, p, "look", p.Call(nEpollWait, set, scratch, 8, 0), 0)
		child := uint64(p.Fork(func(c *player) {
			c.Poke64(scratch, 5)
			want(t, c, "write", c.Call(nWrite, efd, scratch, 8), 8)
			c.Call(nExitGroup, 0)
		}, nFork))
		want(t, p, "wait", p.Call(nEpollPwait, set, scratch, 8, minus, 0, 8), 1)
		if got := p.Peek(scratch, 12); !bytes.Equal(got, epollEvent(abi.POLLIN, 0x1122334455667788)) {
			t.Errorf("the event is %x", got)
		}
		want(t, p, "the edge has passed", p.Call(nEpollWait, set, scratch, 8, 0), 0)
		want(t, p, "read", p.Call(nRead, efd, scratch, 8), 8)
		want(t, p, "the number", int64(p.Peek64(scratch)), 5)
		want(t, p, "read again", p.Call(nRead, efd, scratch, 8), errno(sys.EAGAIN))
		want(t, p, "delete", p.Call(nEpollCtl, set, 2, efd, 0), 0)
		want(t, p, "delete again", p.Call(nEpollCtl, set, 2, efd, 0), errno(sys.ENOENT))
		p.Call(nWait4, child, 0, 0, 0)
	})
}

func TestEpollRefuses(t *testing.T) {
	run(t, func(p *player) {
		efd := uint64(p.Call(nEventfd2, 7, 1))
		set := uint64(p.Call(nEpollCreate1, 0))
		p.Poke(scratch, epollEvent(abi.POLLIN, 0))
		want(t, p, "flags", p.Call(nEventfd2, 0, 2), errno(sys.EINVAL))
		want(t, p, "in itself", p.Call(nEpollCtl, set, 1, set, scratch), errno(sys.EINVAL))
		want(t, p, "no set", p.Call(nEpollCtl, efd, 1, set, scratch), errno(sys.EINVAL))
		want(t, p, "no file", p.Call(nEpollCtl, set, 1, 99, scratch), errno(sys.EBADF))
		want(t, p, "no address", p.Call(nEpollCtl, set, 1, efd, 8), errno(sys.EFAULT))
		want(t, p, "no operation", p.Call(nEpollCtl, set, 4, efd, scratch), errno(sys.EINVAL))
		want(t, p, "no room", p.Call(nEpollWait, set, scratch, 0, 0), errno(sys.EINVAL))
		want(t, p, "a semaphore", p.Call(nRead, efd, scratch, 8), 8)
		want(t, p, "gives one", int64(p.Peek64(scratch)), 1)
	})
}

// TestEpollReturnsAllThatIsReady: one call returns all ready files, however many there are.
func TestEpollReturnsAllThatIsReady(t *testing.T) {
	const nDup, nSetrlimit, many = 32, 160, 1500
	run(t, func(p *player) {
		p.Poke64(scratch, 4096)
		p.Poke64(scratch+8, 4096)
		want(t, p, "limit", p.Call(nSetrlimit, abi.RLIMIT_NOFILE, scratch), 0)
		efd, set := uint64(p.Call(nEventfd2, 1, 0)), uint64(p.Call(nEpollCreate1, 0))
		p.Poke(scratch, epollEvent(abi.POLLIN, 0))
		for range many {
			want(t, p, "add", p.Call(nEpollCtl, set, 1, uint64(p.Call(nDup, efd)), scratch), 0)
		}
		want(t, p, "wait", p.Call(nEpollWait, set, proctest.Data, 3000, 0), many)
		want(t, p, "some", p.Call(nEpollWait, set, proctest.Data, 5, 0), 5)
	})
}
