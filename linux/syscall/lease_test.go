package syscall

import (
	sys "syscall"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/sysctl"
)

const nTruncate = 76

// openNamed opens a file and keeps its name.
func openNamed(p *player, path string, flags uint64) int64 {
	p.PokeString(pathAddr, path)
	return p.Call(nOpen, pathAddr, flags, 0o600)
}

func TestLeasesNeedTheFileForThemselves(t *testing.T) {
	run(t, func(p *player) {
		f := uint64(openNamed(p, "/lease1", abi.O_CREAT|abi.O_RDONLY))
		want(t, p, "none", p.Call(nFcntl, f, abi.F_GETLEASE), abi.F_UNLCK)
		want(t, p, "give back none", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_UNLCK), errno(sys.EAGAIN))
		want(t, p, "no kind", p.Call(nFcntl, f, abi.F_SETLEASE, 7), errno(sys.EINVAL))
		want(t, p, "alone", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_WRLCK), 0)
		want(t, p, "which", p.Call(nFcntl, f, abi.F_GETLEASE), abi.F_WRLCK)
		want(t, p, "owner", p.Call(nFcntl, f, abi.F_GETOWN), p.Call(nGetpid))
		want(t, p, "downgrade", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_RDLCK), 0)
		g := uint64(openNamed(p, "/lease1", abi.O_RDONLY))
		want(t, p, "two that read", p.Call(nFcntl, g, abi.F_SETLEASE, abi.F_RDLCK), 0)
		want(t, p, "not alone", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_WRLCK), errno(sys.EAGAIN))
		p.Call(nClose, g)
		want(t, p, "alone again", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_WRLCK), 0)
		want(t, p, "give back", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_UNLCK), 0)
		w := uint64(openNamed(p, "/lease1", abi.O_RDWR))
		want(t, p, "against a writer", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_RDLCK), errno(sys.EAGAIN))
		want(t, p, "against itself", p.Call(nFcntl, w, abi.F_SETLEASE, abi.F_RDLCK), errno(sys.EAGAIN))
		p.Call(nClose, f)
		want(t, p, "a writer alone", p.Call(nFcntl, w, abi.F_SETLEASE, abi.F_WRLCK), 0)
		p.Call(nClose, w)
		want(t, p, "closed", openNamed(p, "/lease1", abi.O_RDWR|abi.O_NONBLOCK), int64(f))
		p.Call(nPipe, scratch)
		want(t, p, "a pipe", p.Call(nFcntl, uint64(p.Peek32(scratch)), abi.F_SETLEASE, abi.F_RDLCK), errno(sys.EINVAL))
		want(t, p, "a pipe", p.Call(nFcntl, uint64(p.Peek32(scratch)), abi.F_GETLEASE), abi.F_UNLCK)
	})
}

// TestLeasesHoldUpOpening: an opening that conflicts with a lease waits until the holder, which
// gets a signal, has released it.
func TestLeasesHoldUpOpening(t *testing.T) {
	for _, tt := range []struct {
		name       string
		kind, then int64
		open       func(p *player) int64
	}{
		{"a write lease, to read", abi.F_WRLCK, abi.F_RDLCK, func(p *player) int64 { return openNamed(p, "/lease2", abi.O_RDONLY) }},
		{"a write lease, to write", abi.F_WRLCK, abi.F_UNLCK, func(p *player) int64 { return openNamed(p, "/lease2", abi.O_WRONLY) }},
		{"a read lease, to write", abi.F_RDLCK, abi.F_UNLCK, func(p *player) int64 { return openNamed(p, "/lease2", abi.O_WRONLY) }},
		{"a read lease, to truncate", abi.F_RDLCK, abi.F_UNLCK, func(p *player) int64 {
			p.PokeString(pathAddr, "/lease2")
			return p.Call(nTruncate, pathAddr, 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, func(p *player) {
				f := uint64(openNamed(p, "/lease2", abi.O_CREAT|abi.O_RDONLY))
				heard := heardOf(p, 40)
				p.Call(nFcntl, f, abi.F_SETSIG, 40)
				want(t, p, "lease", p.Call(nFcntl, f, abi.F_SETLEASE, uint64(tt.kind)), 0)
				child := uint64(p.Fork(func(c *player) {
					if got := tt.open(c); got < 0 {
						t.Errorf("in the end: %d", got)
					}
					c.Call(nExitGroup, 7)
				}, nFork))
				until(t, p, "the signal", func() bool { return len(*heard) > 0 })
				if _, fd := (*heard)[0].Poll(); fd != int32(f) || (*heard)[0].Code != abi.POLL_MSG {
					t.Errorf("the signal says code %d, descriptor %d", (*heard)[0].Code, fd)
				}
				want(t, p, "becomes", p.Call(nFcntl, f, abi.F_GETLEASE), tt.then)
				want(t, p, "too much", p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_WRLCK), errno(sys.EAGAIN))
				want(t, p, "meanwhile it waits", p.Call(nWait4, child, scratch, abi.WNOHANG, 0), 0)
				want(t, p, "give back", p.Call(nFcntl, f, abi.F_SETLEASE, uint64(tt.then)), 0)
				want(t, p, "wait", p.Call(nWait4, child, scratch, 0, 0), int64(child))
				want(t, p, "status", int64(p.Peek32(scratch)), 7<<8)
			})
		})
	}
}

func TestLeasesDoNotHoldUpForEver(t *testing.T) {
	limit, err := sysctl.Lookup("fs.lease-break-time")
	if err != nil {
		t.Fatal(err)
	}
	before := limit.String()
	limit.Set("1")
	defer limit.Set(before)
	run(t, func(p *player) {
		ignore(p, abi.SIGIO)
		f := uint64(openNamed(p, "/lease3", abi.O_CREAT|abi.O_RDONLY))
		p.Call(nFcntl, f, abi.F_SETLEASE, abi.F_WRLCK)
		want(t, p, "now", openNamed(p, "/lease3", abi.O_RDONLY|abi.O_NONBLOCK), errno(sys.EAGAIN))
		begin := time.Now()
		if g := openNamed(p, "/lease3", abi.O_RDONLY); g < 0 || time.Since(begin) > long {
			t.Errorf("%d after %v", g, time.Since(begin))
		}
		want(t, p, "left", p.Call(nFcntl, f, abi.F_GETLEASE), abi.F_RDLCK)
		if g := openNamed(p, "/lease3", abi.O_WRONLY); g < 0 {
			t.Errorf("to write: %d", g)
		}
		want(t, p, "left", p.Call(nFcntl, f, abi.F_GETLEASE), abi.F_UNLCK)
	})
}
