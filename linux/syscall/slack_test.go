package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
)

// slacken sets a slack that is longer than a test may take: an event then comes after the timeout
// but within the slack.
func slacken(t *testing.T, p *player) {
	t.Helper()
	want(t, p, "set the slack", p.Call(nPrctl, abi.PR_SET_TIMERSLACK, uint64(2*long)), 0)
}

// shortest is the address of a timeout of one nanosecond.
const shortest = scratch + 0x900

func pokeShortest(p *player) {
	p.Poke64(shortest, 0)
	p.Poke64(shortest+8, 1)
}

// TestAWakerFindsWhoWaitsShortly: a futex wait of one nanosecond can be woken if the wakeup comes
// within the slack.
func TestAWakerFindsWhoWaitsShortly(t *testing.T) {
	for name, op := range map[string]uint64{"relative": abi.FUTEX_WAIT, "absolute": abi.FUTEX_WAIT_BITSET} {
		t.Run(name, func(t *testing.T) {
			run(t, func(p *player) {
				p.Poke32(scratch, 0)
				pokeShortest(p)
				slacken(t, p)
				thread(p, func(c *player) {
					want(t, c, "wait", c.Call(nFutex, scratch, op, 0, shortest, 0, abi.FUTEX_BITSET_ALL), 0)
				}, scratch+64)
				for end := time.Now().Add(long); p.Call(nFutex, scratch, abi.FUTEX_WAKE, 1) == 0; sleep(p, time.Millisecond) {
					if time.Now().After(end) || p.Peek32(scratch+64) == 0 {
						t.Error("nobody waits")
						p.Call(nExitGroup, 1)
					}
				}
				joined(t, p, scratch+64)
			})
		})
	}
}

// TestFilesAreWaitedForLonger: poll, select, epoll and sigtimedwait return events that come within
// the slack.
func TestFilesAreWaitedForLonger(t *testing.T) {
	const fds, nSelect, nPselect, nEpollPwait2 = scratch + 0x200, 23, 270, 441
	for name, wait := range map[string]func(p *player) int64{
		"ppoll": func(p *player) int64 {
			p.Poke(fds, abi.Bytes(&abi.PollFD{FD: 0, Events: abi.POLLIN}))
			return p.Call(nPpoll, fds, 1, shortest, 0, 0)
		},
		"poll": func(p *player) int64 {
			p.Poke(fds, abi.Bytes(&abi.PollFD{FD: 0, Events: abi.POLLIN}))
			return p.Call(nPoll, fds, 1, 1)
		},
		"pselect": func(p *player) int64 {
			p.Poke64(fds, 1)
			return p.Call(nPselect, 1, fds, 0, 0, shortest, 0)
		},
		"epoll_pwait2": func(p *player) int64 {
			set := uint64(p.Call(nEpollCreate1, 0))
			p.Poke(fds, epollEvent(abi.POLLIN, 0))
			p.Call(nEpollCtl, set, 1, 0, fds)
			return p.Call(nEpollPwait2, set, fds, 1, shortest, 0, 0)
		},
		"epoll_wait": func(p *player) int64 {
			set := uint64(p.Call(nEpollCreate1, 0))
			p.Poke(fds, epollEvent(abi.POLLIN, 0))
			p.Call(nEpollCtl, set, 1, 0, fds)
			return p.Call(nEpollWait, set, fds, 1, 1)
		},
		"rt_sigtimedwait": func(p *player) int64 {
			p.Poke64(fds, 1<<(abi.SIGUSR1-1))
			if n := p.Call(nSigtimedwait, fds, 0, shortest, 8); n != abi.SIGUSR1 {
				return n
			}
			return 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(p *player) {
				p.Call(nPipe, scratch)
				pokeShortest(p)
				slacken(t, p)
				child := p.Fork(func(c *player) {
					sleep(c, 20*time.Millisecond)
					c.Call(nWrite, 1, scratch, 1)
					c.Call(nKill, 2, abi.SIGUSR1)
				}, nFork)
				p.Poke64(fds, 1<<(abi.SIGUSR1-1))
				p.Call(nSigmask, abi.SIG_BLOCK, fds, 0, 8)
				want(t, p, "wait", wait(p), 1)
				want(t, p, "seconds left of a nanosecond", int64(p.Peek64(shortest)), 0)
				p.Call(nWait4, uint64(child), 0, 0, 0)
			})
		})
	}
}

// TestSlackIsOfAThread: prctl(2), PR_SET_TIMERSLACK. A thread inherits its creator's slack, and 0
// restores that value.
func TestSlackIsOfAThread(t *testing.T) {
	get := func(p *player) int64 { return p.Call(nPrctl, abi.PR_GET_TIMERSLACK) }
	set := func(p *player, ns uint64) { want(t, p, "set", p.Call(nPrctl, abi.PR_SET_TIMERSLACK, ns), 0) }
	inherits := func(c *player) {
		want(t, c, "inherited", get(c), 123)
		set(c, 777)
		want(t, c, "its own", get(c), 777)
		set(c, 0)
		want(t, c, "as it began", get(c), 123)
		set(c, 5)
	}
	w := world(t)
	provide(t, w, "/bin/next", func(p *player) { want(t, p, "after exec", get(p), 456) })
	finish(t, w, begin(t, w, func(p *player) {
		want(t, p, "at first", get(p), 50_000)
		set(p, 123)
		thread(p, inherits, scratch+64)
		joined(t, p, scratch+64)
		p.Call(nWait4, uint64(p.Fork(inherits, nFork)), 0, 0, 0)
		want(t, p, "the maker's", get(p), 123)
		set(p, 0)
		want(t, p, "as it began", get(p), 50_000)
		set(p, minus)
		want(t, p, "the most", get(p), -1)
		set(p, 456)
		p.PokeString(pathAddr, "/bin/next")
		p.Call(nExecve, pathAddr, 0, 0)
	}))
}

// TestHandlerSleepsAsLongAsItAsks: not until the end of the call that its signal interrupted.
func TestHandlerSleepsAsLongAsItAsks(t *testing.T) {
	const short, longer = 200 * time.Millisecond, 400 * time.Millisecond
	sleep := func(p *player, d time.Duration) int64 {
		p.Poke64(scratch, 0)
		p.Poke64(scratch+8, uint64(d))
		return p.Call(nNanosleep, scratch, 0)
	}
	w := world(t)
	var slept time.Duration
	p := begin(t, w, func(p *player) {
		action(p, abi.SIGUSR1, func(p *player, _, _, _ uint64) {
			began := time.Now()
			sleep(p, longer)
			slept = time.Since(began)
		}, 0, 0)
		for sleep(p, short) != -int64(sys.EINTR) {
		}
	})
	asleep(t, p)
	sendFrom(p, abi.SIGUSR1)
	if s := finish(t, w, p); s != 0 || slept < longer {
		t.Errorf("status %#x, the handler slept %v", s, slept)
	}
}

// TestTSC: prctl(2), PR_SET_TSC.
func TestTSC(t *testing.T) {
	run(t, func(p *player) {
		is := func(what string, value uint32) {
			t.Helper()
			want(t, p, what, p.Call(nPrctl, abi.PR_GET_TSC, scratch), 0)
			want(t, p, what, int64(p.Peek32(scratch)), int64(value))
		}
		is("at first", abi.PR_TSC_ENABLE)
		want(t, p, "0", p.Call(nPrctl, abi.PR_SET_TSC, 0), errno(sys.EINVAL))
		want(t, p, "3", p.Call(nPrctl, abi.PR_SET_TSC, 3), errno(sys.EINVAL))
		want(t, p, "deny", p.Call(nPrctl, abi.PR_SET_TSC, abi.PR_TSC_SIGSEGV), 0)
		is("denied", abi.PR_TSC_SIGSEGV)
		want(t, p, "nowhere", p.Call(nPrctl, abi.PR_GET_TSC, 8), errno(sys.EFAULT))
		want(t, p, "allow", p.Call(nPrctl, abi.PR_SET_TSC, abi.PR_TSC_ENABLE), 0)
		is("allowed", abi.PR_TSC_ENABLE)
	})
}
