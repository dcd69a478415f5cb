package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
)

const nGetpgrp = 111

// heardOf installs a handler in p: it returns the list to which received siginfos are added.
func heardOf(p *player, n uint64) *[]abi.Siginfo {
	heard := new([]abi.Siginfo)
	action(p, n, func(p *player, _, info, _ uint64) {
		var i abi.Siginfo
		copy(abi.Bytes(&i), p.Peek(info, 128))
		*heard = append(*heard, i)
	}, abi.SA_SIGINFO, 0)
	return heard
}

// until makes calls until happened returns true; handlers run meanwhile.
func until(t *testing.T, p *player, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(long); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it never happened", what)
		}
		p.Call(nGetpid)
	}
}

func TestOwnersOfFiles(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		r := uint64(p.Peek32(scratch))
		self := uint64(p.Call(nGetpid))
		group := uint64(p.Call(nGetpgrp))
		owner := func(cmd uint64, as abi.FOwnerEx) int64 {
			p.Poke(scratch, abi.Bytes(&as))
			return p.Call(nFcntl, r, cmd, scratch)
		}
		is := func(what string, want abi.FOwnerEx) {
			t.Helper()
			var got abi.FOwnerEx
			owner(abi.F_GETOWN_EX, abi.FOwnerEx{})
			copy(abi.Bytes(&got), p.Peek(scratch, 8))
			if got != want {
				t.Errorf("%s: the owner is %v, want %v", what, got, want)
			}
		}
		want(t, p, "nobody", p.Call(nFcntl, r, abi.F_GETOWN), 0)
		want(t, p, "set", p.Call(nFcntl, r, abi.F_SETOWN, self), 0)
		want(t, p, "get", p.Call(nFcntl, r, abi.F_GETOWN), int64(self))
		is("a process", abi.FOwnerEx{Type: abi.F_OWNER_PID, PID: int32(self)})
		want(t, p, "a group", p.Call(nFcntl, r, abi.F_SETOWN, -group), 0)
		want(t, p, "get a group", p.Call(nFcntl, r, abi.F_GETOWN), -int64(group))
		is("a group", abi.FOwnerEx{Type: abi.F_OWNER_PGRP, PID: int32(group)})
		want(t, p, "a thread", owner(abi.F_SETOWN_EX, abi.FOwnerEx{Type: abi.F_OWNER_TID, PID: int32(self)}), 0)
		is("a thread", abi.FOwnerEx{Type: abi.F_OWNER_TID, PID: int32(self)})
		for what, as := range map[string]abi.FOwnerEx{"process": {Type: abi.F_OWNER_PID, PID: 4000}, "thread": {Type: abi.F_OWNER_TID, PID: 4000}, "group": {Type: abi.F_OWNER_PGRP, PID: 4000}} {
			want(t, p, "no such "+what, owner(abi.F_SETOWN_EX, as), errno(sys.ESRCH))
		}
		want(t, p, "type", owner(abi.F_SETOWN_EX, abi.FOwnerEx{Type: 3, PID: int32(self)}), errno(sys.EINVAL))
		want(t, p, "address", p.Call(nFcntl, r, abi.F_SETOWN_EX, 8), errno(sys.EFAULT))
		is("after what was refused", abi.FOwnerEx{Type: abi.F_OWNER_TID, PID: int32(self)})
		child := p.Fork(func(c *player) {}, nFork)
		p.Call(nFcntl, r, abi.F_SETOWN, uint64(child))
		p.Call(nWait4, uint64(child), 0, 0, 0)
		want(t, p, "one that has ended", p.Call(nFcntl, r, abi.F_GETOWN), 0)
		want(t, p, "no signal", p.Call(nFcntl, r, abi.F_GETSIG), 0)
		want(t, p, "a signal", p.Call(nFcntl, r, abi.F_SETSIG, 40), 0)
		want(t, p, "which", p.Call(nFcntl, r, abi.F_GETSIG), 40)
		want(t, p, "no such signal", p.Call(nFcntl, r, abi.F_SETSIG, 65), errno(sys.EINVAL))
	})
}

// TestReadyFilesSendSignals: a pipe with O_ASYNC sends a signal when it can be read or written, before the call returns
// that makes it so, until O_ASYNC is cleared. The signal used to come later, as a rule.
func TestReadyFilesSendSignals(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe2, scratch, abi.O_NONBLOCK)
		r, w := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		plain, chosen := heardOf(p, abi.SIGIO), heardOf(p, 40)
		self := uint64(p.Call(nGetpid))
		p.Call(nFcntl, r, abi.F_SETOWN, self)
		want(t, p, "async", p.Call(nFcntl, r, abi.F_SETFL, abi.O_NONBLOCK|abi.O_ASYNC), 0)
		if flags := p.Call(nFcntl, r, abi.F_GETFL); flags&abi.O_ASYNC == 0 {
			t.Errorf("the flags are %#x", flags)
		}
		p.Call(nWrite, w, scratch, 1)
		want(t, p, "SIGIO", int64(len(*plain)), 1)
		if i := (*plain)[0]; i.Code != abi.SI_KERNEL {
			t.Errorf("SIGIO says %d", i.Code)
		}
		p.Call(nFcntl, r, abi.F_SETSIG, 40)
		p.Call(nWrite, w, scratch, 1)
		want(t, p, "the chosen signal", int64(len(*chosen)), 1)
		band, fd := (*chosen)[0].Poll()
		if i := (*chosen)[0]; i.Code != abi.POLL_IN || band&int64(poll.In) == 0 || fd != int32(r) {
			t.Errorf("the chosen signal says code %d, band %#x, descriptor %d", i.Code, band, fd)
		}
		*chosen = nil
		p.Call(nFcntl, w, abi.F_SETOWN, self)
		p.Call(nFcntl, w, abi.F_SETSIG, 40)
		p.Call(nFcntl, w, abi.F_SETFL, abi.O_NONBLOCK|abi.O_ASYNC)
		p.Call(nRead, r, scratch, 2)
		want(t, p, "room", int64(len(*chosen)), 1)
		if _, fd := (*chosen)[0].Poll(); (*chosen)[0].Code != abi.POLL_OUT || fd != int32(w) {
			t.Errorf("room says code %d, descriptor %d", (*chosen)[0].Code, fd)
		}
		p.Call(nFcntl, r, abi.F_SETFL, abi.O_NONBLOCK)
		p.Call(nFcntl, w, abi.F_SETFL, abi.O_NONBLOCK)
		*plain, *chosen = nil, nil
		p.Call(nWrite, w, scratch, 1)
		for range 20 {
			p.Call(nGetpid)
			time.Sleep(time.Millisecond)
		}
		if len(*plain)+len(*chosen) != 0 {
			t.Errorf("without O_ASYNC there are %v, %v", *plain, *chosen)
		}
		file := openNew(p, "/file", abi.O_RDWR)
		p.Call(nFcntl, file, abi.F_SETFL, abi.O_ASYNC)
		want(t, p, "a file's flags", p.Call(nFcntl, file, abi.F_GETFL)&abi.O_ASYNC, 0)
		p.Poke32(scratch, 1)
		want(t, p, "a file, by ioctl", p.Call(nIoctl, file, abi.FIOASYNC, scratch), errno(sys.ENOTTY))
		want(t, p, "by ioctl", p.Call(nIoctl, r, abi.FIOASYNC, scratch), 0)
		p.Poke32(scratch, uint32(self))
		want(t, p, "owner by ioctl", p.Call(nIoctl, r, abi.FIOSETOWN, scratch), 0)
		p.Poke32(scratch, 0)
		want(t, p, "owner by ioctl", p.Call(nIoctl, r, abi.FIOGETOWN, scratch), 0)
		want(t, p, "it", int64(p.Peek32(scratch)), int64(self))
	})
}

// TestGroupsOwn: a signal for a group arrives at a child in it.
func TestGroupsOwn(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		r, w := uint64(p.Peek32(scratch)), uint64(p.Peek32(scratch+4))
		ignore(p, abi.SIGIO)
		child := uint64(p.Fork(func(c *player) {
			heard := heardOf(c, abi.SIGIO)
			c.Call(nFcntl, r, abi.F_SETOWN, -uint64(c.Call(nGetpgrp)))
			c.Call(nFcntl, r, abi.F_SETFL, abi.O_ASYNC)
			c.Call(nWrite, w, scratch, 1)
			until(t, c, "SIGIO to the group", func() bool { return len(*heard) > 0 })
		}, nFork))
		p.Call(nWait4, child, scratch, 0, 0)
		want(t, p, "status", int64(p.Peek32(scratch)), 0)
	})
}
