package uprobes

import (
	"bytes"
	"strings"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/mm/backing"
	"sonde/kernel/printk"
	"sonde/kernel/vfs"
	"sonde/linux/proctest"
	"sonde/linux/space"
)

// logged is how often the log says that there is no probe.
func logged() (n int) {
	for r := range printk.Records() {
		n += bytes.Count(r.Text(), []byte("there is no probe at /lib:0x2"))
	}
	return n
}

// unset checks at how many places a probe on a file is not set, and that every reader says so and why.
func unset(t *testing.T, u *Uprobe, n uint64, why string) {
	t.Helper()
	l := u.Ledger()
	if l.Unset != n || l.Missed() != n || l.Unexplained() != 0 || !strings.Contains(l.Why, why) || (n == 0) != (l.Why == "") {
		t.Errorf("unset at %d places, want %d; %d missed: %q", l.Unset, n, l.Missed(), l.Why)
	}
	for _, r := range rows() {
		if strings.Contains(r.Line, l.Loss()) && r.Ledger == l {
			return
		}
	}
	t.Errorf("no line says %q: %+v", l.Loss(), rows())
}

// TestPlacesWithoutAProbeAreCounted: each once, however often the kernel tries, in a child of fork as well, with the
// first reason. The log has the first of each probe and each process.
func TestPlacesWithoutAProbeAreCounted(t *testing.T) {
	u := new(Uprobe)
	begun := logged()
	withFile(t, u, func(p *player, fd uint64) {
		must(t, register(u))
		unset(t, u, 0, "")
		shared := func(at uint64) {
			p.Call(nMmap, at, 2*space.PageSize, exec, abi.MAP_SHARED|abi.MAP_FIXED, fd, 0)
			unset(t, u, (at-libAt)/0x10000+1, "shared")
		}
		shared(libAt)
		mapLib(t, p, fd, libAt+0x20000, 1, exec, 0)
		probedAt(t, p, "private", libAt+0x20000+offset, true)
		unset(t, u, 1, "shared")
		shared(libAt + 0x10000)
		other := &Uprobe{Path: "/lib", Offset: offset + 1, Handler: u.Handler}
		must(t, register(other))
		unset(t, other, 2, "shared")
		must(t, UnregisterUprobe(other))
		p.Fork(func(c *player) { c.Call(nGetpid) }, fork)
		for p.Call(wait4, ^uint64(0), 0, 0, 0) < 0 {
		}
		unset(t, u, 4, "shared")
		must(t, UnregisterUprobe(u))
		must(t, register(u)) // it counts from 0 again, and finds both
		unset(t, u, 2, "shared")
	})
	if n := logged() - begun; n != 2 {
		t.Errorf("it is in the log %d times, want once for each registration of the first probe", n)
	}
}

// TestReasonsForNoProbe: the others.
func TestReasonsForNoProbe(t *testing.T) {
	for _, c := range []struct {
		why  string
		make func(p *player, fd uint64)
	}{
		{"breakpoint", func(p *player, fd uint64) {
			mapLib(t, p, fd, libAt, 1, exec|abi.PROT_WRITE, 0)
			p.Poke(libAt+offset, []byte{0xCC})
		}},
		{"cannot be probed", func(p *player, fd uint64) {
			mapLib(t, p, fd, libAt, 1, exec|abi.PROT_WRITE, 0)
			p.Poke(libAt+offset, []byte{0x0F, 0x01, 0xC1}) // VMCALL
		}},
		{"as many as there is memory for", func(p *player, fd uint64) {
			mapLib(t, p, fd, libAt, 1, exec, 0)
			mu.Lock()
			pointsMade += mostPoints()
			mu.Unlock()
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			before := pointsMade
			u := new(Uprobe)
			withFile(t, u, func(p *player, fd uint64) {
				c.make(p, fd)
				must(t, register(u))
				unset(t, u, 1, c.why)
				p.Call(nMmap, libAt+0x10000, space.PageSize, exec, abi.MAP_PRIVATE|abi.MAP_FIXED|abi.MAP_ANONYMOUS, ^uint64(0), 0) // another try
				unset(t, u, 1, c.why)
			})
			pointsMade = before
		})
	}
}

// TestMappingThatCannotBeRead: the file has become shorter than what is mapped of it.
func TestMappingThatCannotBeRead(t *testing.T) {
	const truncate = 76
	u := new(Uprobe)
	withFile(t, u, func(p *player, fd uint64) {
		u.Offset += space.PageSize
		must(t, register(u))
		p.Call(truncate, proctest.Data, space.PageSize)
		mapLib(t, p, fd, libAt, 2, exec, 0)
		unset(t, u, 1, backing.ErrBus.Error())
		p.Call(nMunmap, libAt, 2*space.PageSize) // nothing is there that could be hit
		mapLib(t, p, fd, libAt+0x10000, 1, exec, 0)
		unset(t, u, 1, backing.ErrBus.Error())
		must(t, vfs.WriteFile("/lib", make([]byte, 2*space.PageSize))) // as many frames as before
	})
}

// TestEnablingThatFails: a probe that was disabled does not come back where it cannot.
func TestEnablingThatFails(t *testing.T) {
	for name, again := range map[string]func(*Uprobe, bool){
		"the probe":  func(u *Uprobe, on bool) { EnableUprobes([]*Uprobe{u}, on) },
		"all probes": func(_ *Uprobe, on bool) { SetEnabled(on) },
	} {
		t.Run(name, func(t *testing.T) {
			u := new(Uprobe)
			withFile(t, u, func(p *player, fd uint64) {
				mapLib(t, p, fd, libAt, 1, exec|abi.PROT_WRITE, 0)
				mapLib(t, p, fd, libAt+0x10000, 1, exec, 0)
				must(t, register(u))
				again(u, false)
				p.Call(nMunmap, libAt+0x10000, space.PageSize)
				p.Poke(libAt+offset, []byte{0xCC})
				again(u, true)
				unset(t, u, 1, "breakpoint")
			})
		})
	}
}
