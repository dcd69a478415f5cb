package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
)

const nGetpriority, nSetpriority, nMembarrier = 140, 141, 324

// nice is the nice value that getpriority returns.
func nice(p *player, which, who uint64) int64 { return 20 - p.Call(nGetpriority, which, who) }

func TestNiceness(t *testing.T) {
	run(t, func(p *player) {
		want(t, p, "at first", nice(p, abi.PRIO_PROCESS, 0), 0)
		want(t, p, "set", p.Call(nSetpriority, abi.PRIO_PROCESS, 2, 7), 0)
		child := p.Fork(func(c *player) { want(t, c, "inherited", nice(c, abi.PRIO_PROCESS, 0), 7) }, nFork)
		p.Call(nWait4, uint64(child), 0, 0, 0)
		child = p.Fork(func(c *player) { c.Call(nPause) }, nFork)
		want(t, p, "too much", p.Call(nSetpriority, abi.PRIO_PROCESS, uint64(child), 100), 0)
		want(t, p, "is the most", nice(p, abi.PRIO_PROCESS, uint64(child)), 19)
		want(t, p, "the group's least", nice(p, abi.PRIO_PGRP, 0), 7)
		want(t, p, "too little", p.Call(nSetpriority, abi.PRIO_USER, 0, uint64(0xffffff00)), 0)
		want(t, p, "for all", nice(p, abi.PRIO_PROCESS, uint64(child)), -20)
		thread(p, func(c *player) {
			want(t, c, "a thread inherits", nice(c, abi.PRIO_PROCESS, 0), -20)
			c.Call(nSetpriority, abi.PRIO_PROCESS, 0, 3)
		}, scratch+64)
		joined(t, p, scratch+64)
		want(t, p, "and sets its own", nice(p, abi.PRIO_PROCESS, 2), -20)
		want(t, p, "no process", p.Call(nGetpriority, abi.PRIO_PROCESS, 12345), errno(sys.ESRCH))
		want(t, p, "no group", p.Call(nSetpriority, abi.PRIO_PGRP, 12345, 0), errno(sys.ESRCH))
		want(t, p, "no user", p.Call(nSetpriority, abi.PRIO_USER, 5, 0), errno(sys.ESRCH))
		want(t, p, "no kind", p.Call(nGetpriority, 3, 0), errno(sys.EINVAL))
		p.Call(nKill, uint64(child), abi.SIGKILL)
		p.Call(nWait4, uint64(child), 0, 0, 0)
	})
}

func TestMembarrier(t *testing.T) {
	made := 0
	defer func(f func()) { Barrier = f }(Barrier)
	Barrier = func() { made++ }
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) {
		want(t, p, "after exec", p.Call(nMembarrier, barrierPrivate), errno(sys.EPERM))
	})
	finish(t, w, begin(t, w, func(p *player) {
		all := uint64(p.Call(nMembarrier, 0, 0))
		want(t, p, "what there is", int64(all), barrierAll)
		for _, pair := range [][2]uint64{{barrierPrivate, registerPrivate}, {barrierPrivateSync, registerPrivateSync}} {
			want(t, p, "unregistered", p.Call(nMembarrier, pair[0], 0), errno(sys.EPERM))
			want(t, p, "register", p.Call(nMembarrier, pair[1], 0), 0)
		}
		want(t, p, "none was made", int64(made), 0)
		for _, cmd := range []uint64{barrierGlobal, barrierGlobalExpedited, barrierPrivate, barrierPrivateSync} {
			want(t, p, "barrier", p.Call(nMembarrier, cmd, 0), 0)
		}
		want(t, p, "made", int64(made), 4)
		want(t, p, "registrations", p.Call(nMembarrier, barrierGetRegistrations, 0), registerPrivate|registerPrivateSync)
		for _, cmd := range []uint64{3, 128, 256, 1 << 31} {
			want(t, p, "refused", p.Call(nMembarrier, cmd, 0), errno(sys.EINVAL))
		}
		want(t, p, "flags", p.Call(nMembarrier, barrierGlobal, 1), errno(sys.EINVAL))
		child := p.Fork(func(c *player) { want(t, c, "a fork", c.Call(nMembarrier, barrierPrivate, 0), 0) }, nFork)
		p.Call(nWait4, uint64(child), 0, 0, 0)
		sleep(p, time.Millisecond)
		p.PokeString(pathAddr, "/bin/next")
		p.Call(nExecve, pathAddr, 0, 0)
	}))
}

func TestIOPrio(t *testing.T) {
	const nSet, nGet, process, group, user = 251, 252, 1, 2, 3
	run(t, func(p *player) {
		inval := errno(sys.EINVAL)
		want(t, p, "at first", p.Call(nGet, process, 0), 0)
		want(t, p, "of the group", p.Call(nGet, group, 0), 2<<13|4)
		want(t, p, "set", p.Call(nSet, process, 2, 2<<13|5), 0)
		child := p.Fork(func(c *player) { want(t, c, "inherited", c.Call(nGet, process, 0), 2<<13|5) }, nFork)
		p.Call(nWait4, uint64(child), 0, 0, 0)
		want(t, p, "of the user", p.Call(nGet, user, 0), 2<<13|5)
		want(t, p, "idle", p.Call(nSet, user, 0, 3<<13), 0)
		want(t, p, "of the process", p.Call(nGet, process, 2), 3<<13)
		want(t, p, "none with a level", p.Call(nSet, process, 0, 1), inval)
		want(t, p, "no class", p.Call(nSet, process, 0, 4<<13), inval)
		want(t, p, "negative", p.Call(nSet, process, 0, minus), inval)
		want(t, p, "no kind", p.Call(nSet, 0, 0, 0), inval)
		want(t, p, "no kind", p.Call(nGet, 4, 0), inval)
		want(t, p, "no process", p.Call(nGet, process, 99999), errno(sys.ESRCH))
	})
}
