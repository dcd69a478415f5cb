//go:build tamago

package handlers

import (
	"errors"
	"reflect"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

// victim is what the bad handlers' probes are on.
//
//go:noinline
func victim(a uint64) uint64 { return a*3 + 3 }

// bystander has probes of its own.
//
//go:noinline
func bystander(a uint64) uint64 { return a ^ 9 }

func entry(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// bad is a probe on victim of any kind, whose handler calls something.
type bad struct {
	register   func() error
	unregister func()
	enable     func() error
	ledger     func() kprobes.Ledger
}

// canEnable says whether the probe may be enabled, which is refused for those
// whose handler was abandoned. It leaves it enabled.
func (b *bad) canEnable() bool { return !errors.Is(b.enable(), syscall.EINVAL) }

// kinds are the five handlers that can break the rules.
var kinds = []struct {
	name string
	bad  func(f func()) *bad
}{
	{"pre-handler", func(f func()) *bad {
		return badKprobe(&kprobes.Kprobe{PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { f(); return 0 }})
	}},
	{"post-handler", func(f func()) *bad {
		return badKprobe(&kprobes.Kprobe{PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { f() }})
	}},
	{"return handler", func(f func()) *bad {
		return badKretprobe(&kprobes.Kretprobe{
			Handler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { f(); return 0 }})
	}},
	{"entry handler", func(f func()) *bad {
		return badKretprobe(&kprobes.Kretprobe{
			EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { f(); return 0 }})
	}},
	{"jprobe handler", func(f func()) *bad {
		j := kprobes.NewJprobe(victim, func(uint64) uint64 { f(); kprobes.JprobeReturn(); return 0 })
		return &bad{
			func() error { j.KP.Addr = entry(victim); return kprobes.RegisterJprobe(j) },
			func() { kprobes.UnregisterJprobe(j) },
			func() error { return kprobes.EnableJprobe(j) }, j.KP.Ledger}
	}},
}

func badKprobe(k *kprobes.Kprobe) *bad {
	return &bad{
		func() error { k.Addr = entry(victim); return kprobes.RegisterKprobe(k) },
		func() { kprobes.UnregisterKprobe(k) },
		func() error { return kprobes.EnableKprobe(k) }, k.Ledger}
}

func badKretprobe(rp *kprobes.Kretprobe) *bad {
	rp.MaxActive = 4
	return &bad{
		func() error { rp.KP.Addr = entry(victim); return kprobes.RegisterKretprobe(rp) },
		func() { kprobes.UnregisterKretprobe(rp) },
		func() error { return kprobes.EnableKretprobe(rp) }, rp.Ledger}
}

// good is one probe of each kind, whose handlers count.
type good struct {
	pre, post, entry, ret, jump atomic.Uint64
	k                           *kprobes.Kprobe
	rp                          *kprobes.Kretprobe
	j                           *kprobes.Jprobe
}

// newGood registers them on f, the jprobe only if none is there.
func newGood(t *suites.T, f func(uint64) uint64, jprobe bool) *good {
	g := &good{}
	g.k = &kprobes.Kprobe{Addr: entry(f),
		PreHandler:  func(*kprobes.Kprobe, *amd64.Regs) int { g.pre.Add(1); return 0 },
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { g.post.Add(1) }}
	g.rp = &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(f)}, MaxActive: 32,
		EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { g.entry.Add(1); return 0 },
		Handler:      func(*kprobes.KretprobeInstance, *amd64.Regs) int { g.ret.Add(1); return 0 }}
	t.Must(kprobes.RegisterKprobe(g.k))
	t.Must(kprobes.RegisterKretprobe(g.rp))
	if jprobe {
		g.j = kprobes.NewJprobe(f, func(uint64) uint64 { g.jump.Add(1); kprobes.JprobeReturn(); return 0 })
		t.Must(kprobes.RegisterJprobe(g.j))
	}
	return g
}

// remove unregisters them; each handler must have been called n times.
func (g *good) remove(t *suites.T, what string, n uint64) {
	kprobes.UnregisterKprobe(g.k)
	kprobes.UnregisterKretprobe(g.rp)
	suites.Equal(t, what+": pre-handler", g.pre.Load(), n)
	suites.Equal(t, what+": post-handler", g.post.Load(), n)
	suites.Equal(t, what+": entry handler", g.entry.Load(), n)
	suites.Equal(t, what+": return handler", g.ret.Load(), n)
	if g.j != nil {
		kprobes.UnregisterJprobe(g.j)
		suites.Equal(t, what+": jprobe handler", g.jump.Load(), n)
	}
	for _, l := range []kprobes.Ledger{g.k.Ledger(), g.rp.Ledger()} {
		if l.Unexplained() != 0 || l.InFlight != 0 || l.Abandoned != 0 {
			t.Errorf("%s: account %+v, unexplained %d", what, l, l.Unexplained())
		}
	}
}
