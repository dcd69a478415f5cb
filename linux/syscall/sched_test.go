package syscall

import (
	sys "syscall"
	"testing"

	"sonde/kernel/abi"
)

const (
	nSchedSetparam, nSchedGetparam, nSchedSetscheduler, nSchedGetscheduler, nSchedInterval = 142, 143, 144, 145, 148
	nReadlinkat, nSymlink                                                                  = 267, 88
	nArchPrctl                                                                             = 158
)

func TestPoliciesAreKept(t *testing.T) {
	run(t, func(p *player) {
		self := uint64(p.Call(nGetpid))
		set := func(pid, policy, priority uint64) int64 {
			p.Poke32(scratch, uint32(priority))
			return p.Call(nSchedSetscheduler, pid, policy, scratch)
		}
		is := func(q *player, what string, policy, priority int64) {
			t.Helper()
			want(t, q, what, q.Call(nSchedGetscheduler, 0), policy)
			want(t, q, what, q.Call(nSchedGetparam, 0, scratch), 0)
			want(t, q, what, int64(q.Peek32(scratch)), priority)
		}
		is(p, "at first", 0, 0)
		want(t, p, "round robin", set(self, 2, 7), 0)
		is(p, "round robin", 2, 7)
		want(t, p, "interval", p.Call(nSchedInterval, 0, scratch), 0)
		want(t, p, "interval, ns", int64(p.Peek64(scratch+8)), 100e6)
		p.Poke32(scratch, 9)
		want(t, p, "priority", p.Call(nSchedSetparam, 0, scratch), 0)
		is(p, "priority", 2, 9)
		for what, r := range map[string]int64{
			"a priority of none": set(0, 1, 0), "too high": set(0, 1, 100), "usual with a priority": set(0, 0, 1),
			"no policy": set(0, 9, 0), "deadline": set(0, 6, 0), "negative": set(0, minus, 0), "number": set(minus, 0, 0),
			"no address": p.Call(nSchedSetscheduler, 0, 1, 0), "get nowhere": p.Call(nSchedGetparam, 0, 0),
		} {
			want(t, p, what, r, errno(sys.EINVAL))
		}
		want(t, p, "nobody", set(4000, 0, 0), errno(sys.ESRCH))
		want(t, p, "nobody", p.Call(nSchedGetscheduler, 4000), errno(sys.ESRCH))
		is(p, "after what was refused", 2, 9)
		child := func(what string, policy, priority int64) {
			pid := p.Fork(func(c *player) { is(c, what, policy, priority) }, nFork)
			p.Call(nWait4, uint64(pid), 0, 0, 0)
		}
		child("a child", 2, 9)
		want(t, p, "not to children", set(0, 1|resetOnFork, 3), 0)
		is(p, "not to children", 1|resetOnFork, 3)
		child("a child of that", 0, 0)
	})
}

func TestSmallRefusals(t *testing.T) {
	run(t, func(p *player) {
		p.Call(nPipe, scratch)
		r := uint64(p.Peek32(scratch))
		p.PokeString(pathAddr, "/node")
		want(t, p, "no kind of node", p.Call(nMknod, pathAddr, 0170000, 0), errno(sys.EINVAL))
		want(t, p, "a device", p.Call(nMknod, pathAddr, abi.S_IFCHR, 0), errno(sys.EPERM))
		want(t, p, "CPUID is free", p.Call(nArchPrctl, abi.ARCH_GET_CPUID), 1)
		want(t, p, "and stays so", p.Call(nArchPrctl, abi.ARCH_SET_CPUID, 0), errno(sys.ENODEV))
		p.PokeString(scratch, "somewhere")
		p.PokeString(pathAddr, "/link")
		p.Call(nUnlink, pathAddr)
		want(t, p, "symlink", p.Call(nSymlink, scratch, pathAddr), 0)
		link := uint64(p.Call(nOpen, pathAddr, abi.O_PATH|abi.O_NOFOLLOW, 0))
		p.PokeString(pathAddr, "")
		want(t, p, "an open link", p.Call(nReadlinkat, link, pathAddr, scratch, 100), 9)
		if got := string(p.Peek(scratch, 9)); got != "somewhere" {
			t.Errorf("the link leads to %q", got)
		}
		want(t, p, "an open pipe", p.Call(nReadlinkat, r, pathAddr, scratch, 100), errno(sys.ENOENT))
		want(t, p, "nothing", p.Call(nReadlinkat, cwd, pathAddr, scratch, 100), errno(sys.ENOENT))
	})
}
