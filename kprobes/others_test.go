package kprobes

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"sonde/kprobes/machine"
	"sonde/probe/ledger"
)

// TestReturnProbeRefuses: what is asked for is looked at before anything is taken.
func TestReturnProbeRefuses(t *testing.T) {
	f := newFake(t)
	machine.This.Memory = 8 << 20
	for _, c := range []struct {
		name      string
		symbol    string
		off       uintptr
		maxActive int
		dataSize  uintptr
		errno     syscall.Errno
		why       string
	}{
		{"not an entry", "t.work", 3, 0, 0, syscall.EINVAL, "t.work+0x3 is not the entry of a function, where a return probe must be"},
		{"does not return", "t.stays", 0, 0, 0, syscall.EINVAL, "t.stays does not return to its caller"},
		{"blacklisted", "t.trap", 0, 0, 0, syscall.EINVAL, "it handles traps"},
		{"too many calls", "t.work", 0, maxMaxActive + 1, 0, syscall.ERANGE, "MaxActive is 1048577"},
		{"too much data", "t.work", 0, 1, maxDataSize + 1, syscall.ERANGE, "DataSize is 65537"},
		{"too much memory", "t.work", 0, 64, maxDataSize, syscall.ENOMEM, "more than a quarter of memory"},
	} {
		rp := returns(c.symbol)
		rp.KP.Offset, rp.MaxActive, rp.DataSize = c.off, c.maxActive, c.dataSize
		before := f.now()
		f.refused(before, RegisterKretprobe(rp), c.errno, c.why)
		if rp.MaxActive != c.maxActive {
			t.Errorf("%s: MaxActive was %d, is %d", c.name, c.maxActive, rp.MaxActive)
		}
		first := returns("t.work")
		f.refused(before, RegisterKretprobes([]*Kretprobe{first, rp}), c.errno, c.why)
		f.graceEnds()
		if first.KP.Flags.Has(flagRegistered) || rp.KP.Flags.Has(flagRegistered) || first.KP.point != nil {
			t.Errorf("%s: registered", c.name)
		}
	}
}

// TestReturnProbeTwice: registered from many goroutines at once, or as the kprobe
// that it contains, it is registered once, and its instances stay.
func TestReturnProbeTwice(t *testing.T) {
	f := newFake(t)
	rp := returns("t.work")
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = RegisterKretprobe(rp) })
	}
	wg.Wait()
	t.Cleanup(func() { UnregisterKretprobe(rp) })
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if !errors.Is(err, syscall.EEXIST) {
			t.Error(err)
		}
	}
	if done != 1 || rp.MaxActive != machine.This.CPUs || len(rp.pool.instances) != machine.This.CPUs {
		t.Errorf("registered %d times, %d instances", done, len(rp.pool.instances))
	}
	pool := &rp.pool.instances[0]
	f.refused(f.now(), RegisterKretprobe(rp), syscall.EEXIST, "registered already")
	f.refused(f.now(), RegisterKprobe(&rp.KP), syscall.EEXIST, "registered already")
	if &rp.pool.instances[0] != pool || rp.KP.kind != kindKretprobe {
		t.Error("its instances are others, or its kind is")
	}
}

// TestCallsInFlight: a probe that is unregistered, in whichever way, is kept until
// its last call has returned, and is not registered before.
func TestCallsInFlight(t *testing.T) {
	f := newFake(t)
	for name, unregister := range map[string]func(*Kretprobe){
		"UnregisterKretprobe": UnregisterKretprobe,
		"UnregisterKprobe":    func(rp *Kretprobe) { UnregisterKprobe(&rp.KP) },
	} {
		rp := returns("t.work")
		f.mustReturn(rp)
		rp.KP.ledger.Count(3, ledger.Entered)
		call := rp.pool.get(3)
		if unregister(rp); len(lingering) != 1 || lingering[0] != rp || rp.Ledger().InFlight != 1 {
			t.Errorf("%s: %d kept, %+v", name, len(lingering), rp.Ledger())
		}
		f.refused(f.now(), RegisterKretprobe(rp), syscall.EBUSY, "1 calls from before have not returned")
		rp.KP.ledger.Count(0, ledger.Disarmed)
		rp.pool.put(call, 0)
		n := len(f.log)
		f.mustReturn(rp) // what gave the instance back may be at it still
		f.did(n, "quiesce", "write", "watch", "arm t.work+0x0", "sync 1", "quiesce")
		if unregister(rp); len(lingering) != 0 {
			t.Errorf("%s: kept without a call", name)
		}
		f.graceEnds()
	}
}

// TestJprobeRefuses: one jprobe for a function, at its entry, with a handler that is
// one.
func TestJprobeRefuses(t *testing.T) {
	f := newFake(t)
	j := jumps("t.work")
	f.mustJprobe(j)
	f.refused(f.now(), RegisterJprobe(jumps("t.work")), syscall.EBUSY, "t.work has a jprobe already")
	f.refused(f.now(), RegisterJprobe(j), syscall.EEXIST, "registered already")
	for _, c := range []struct {
		name  string
		off   uintptr
		entry any
		errno syscall.Errno
		why   string
	}{
		{"no handler", 0, nil, syscall.EINVAL, "Entry is not a function"},
		{"no function", 0, 7, syscall.EINVAL, "Entry is not a function"},
		{"nil function", 0, (func())(nil), syscall.EINVAL, "Entry is not a function"},
		{"not an entry", 4, func() {}, syscall.EINVAL, "t.small+0x4 is not the entry of a function, where a jprobe must be"},
		{"a large frame", 0, func([maxStack + 8]byte) {}, syscall.E2BIG, "more than 1024"},
	} {
		other := jumps("t.small")
		other.Entry, other.KP.Offset = c.entry, c.off
		f.refused(f.now(), RegisterJprobe(other), c.errno, c.why)
	}
	UnregisterJprobe(j)
	f.mustJprobe(jumps("t.work"))
	f.must(at("t.work", 0)) // other kinds share the function
	f.mustReturn(returns("t.work"))
}

// TestFlagsAfterwards: an unregistered probe has the flags that its user gave it. Bits
// of ours used to stay, and to be seen in Flags.
func TestFlagsAfterwards(t *testing.T) {
	f := newFake(t)
	sse := at("t.work", 0)
	f.sse = pre
	rp, j := returns("t.small"), jumps("t.small")
	rp.KP.Flags = FlagDisabled
	f.mustReturn(rp)
	f.mustJprobe(j)
	f.must(sse)
	for _, k := range []*Kprobe{sse, &rp.KP, &j.KP} {
		if k.Flags&flagsOwn&^flagRegistered == 0 {
			t.Errorf("%s: hits find nothing in its flags, %#x", k.name(), k.Flags)
		}
		k.disableForGood()
	}
	UnregisterKprobes([]*Kprobe{sse, &rp.KP, &j.KP})
	if sse.Flags != 0 || rp.KP.Flags != FlagDisabled || j.KP.Flags != 0 {
		t.Errorf("flags %#x, %#x and %#x are left", sse.Flags, rp.KP.Flags, j.KP.Flags)
	}
}

// TestAbandonedWhileItsPointChanges: hits have no short path to it then, whatever came first.
func TestAbandonedWhileItsPointChanges(t *testing.T) {
	f, k := newFake(t), at("t.work", 0)
	f.must(k)
	pt := points.Find(k.Addr)
	var round, done atomic.Int32
	const rounds = 1_000_000
	go func() {
		for n := int32(1); n <= rounds; n++ {
			for round.Load() < n {
				runtime.Gosched()
			}
			k.disableForGood()
			done.Store(n)
		}
	}()
	for n := int32(1); n <= rounds; n++ {
		k.Flags.Clear(flagGone)
		pt.shorten()
		round.Store(n)
		for range n % 64 { // so that the two meet anywhere
			done.Load()
		}
		for pt.shorten(); done.Load() < n; {
			runtime.Gosched()
		}
		if pt.call.Load() != wordOf(&others) {
			t.Fatal("hits still call a handler that was abandoned, round", n)
		}
	}
	UnregisterKprobe(k)
}

// TestAccountsBeginAnew: with each registration, on all CPUs.
func TestAccountsBeginAnew(t *testing.T) {
	f := newFake(t)
	k := at("t.work", 0)
	f.must(k)
	for id := range machine.This.CPUs {
		k.ledger.Count(id, ledger.Recursion)
	}
	if UnregisterKprobe(k); k.NMissed() != uint64(machine.This.CPUs) {
		t.Errorf("%d missed, when unregistered", k.NMissed())
	}
	if f.must(k); k.NMissed() != 0 {
		t.Errorf("%d missed already", k.NMissed())
	}
}

// TestModuleUnloaded: its probes go, and nobody else's; those on its functions
// would be gone for good.
func TestModuleUnloaded(t *testing.T) {
	f := newFake(t)
	mine, rp, kernels := at("t.work", 0), returns("t.small"), at("t.work", 0)
	f.must(mine, kernels)
	f.mustReturn(rp)
	mine.owner, rp.KP.owner = "m", "m"
	Forget("m")
	if mine.point != nil || rp.KP.point != nil || kernels.point == nil || len(kernels.point.probes()) != 1 {
		t.Errorf("%v, %v, %v", mine.point, rp.KP.point, kernels.point)
	}
	if pt := points.Find(addrOf(t, "t.small", 0)); pt != nil {
		t.Error("its point is left")
	}
}
