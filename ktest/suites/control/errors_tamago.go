//go:build tamago

package control

import (
	"errors"
	"strings"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("control/every_refusal_says_what_and_why", refusals)
}

// stepped is a post-handler: the instruction must be stepped for it.
func stepped(*kprobes.Kprobe, *amd64.Regs, uint64) {}

// parked waits in its middle.
//
//go:noinline
func parked(in, out chan bool) int { in <- true; <-out; return 7 }

// refusals provokes each errno that registering and toggling promise.
func refusals(t *suites.T) {
	const name = "sonde/ktest/suites/control.one"
	before := state()
	k, j, flying := kprobeOn(one), jumperOnThree(), returnOf(parked)
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterJprobe(j))
	release := flyingCall(t, flying)
	addr := kprobeOn(one)
	addr.SymbolName = name
	many, big, huge := returnOf(two), returnOf(two), returnOf(two)
	many.MaxActive, big.DataSize = 1<<20+1, 1<<16+1
	huge.MaxActive, huge.DataSize = 1<<20, 1<<16
	inside := &kprobes.Kprobe{SymbolName: name, Offset: 1}
	for _, c := range []struct {
		err   error
		errno syscall.Errno
		says  string // what was attempted … why
	}{
		{kprobes.RegisterKprobe(addr), syscall.EINVAL, name + "+0x0: both SymbolName and Addr are given"},
		{kprobes.RegisterKprobe(&kprobes.Kprobe{}), syscall.EINVAL, "0x0: neither SymbolName nor Addr is given"},
		{kprobes.RegisterKprobe(&kprobes.Kprobe{Addr: 0x10}), syscall.EINVAL, "0x10: not an address of kernel text"},
		{kprobes.RegisterKprobe(&kprobes.Kprobe{SymbolName: name, Offset: 1 << 20}), syscall.EINVAL, "offset 0x100000 is beyond the end of " + name + ", which has 0x"},
		{kprobes.DisableKprobe(kprobeOn(two)), syscall.EINVAL, "it is not registered"},
		{kprobes.RegisterJprobe(&kprobes.Jprobe{KP: kprobes.Kprobe{SymbolName: name}}), syscall.EINVAL, "Entry is not a function"},
		{kprobes.RegisterKprobe(&kprobes.Kprobe{SymbolName: "no.such"}), syscall.ENOENT, "there is no symbol no.such"},
		{kprobes.RegisterKprobe(inside), syscall.EILSEQ, name + "+0x1 is inside an instruction"},
		{kprobes.RegisterKprobe(k), syscall.EEXIST, "it is registered already"},
		{kprobes.RegisterJprobe(jumperOnThree()), syscall.EBUSY, "control.three has a jprobe already"},
		{kprobes.RegisterKretprobe(flying), syscall.EBUSY, "1 calls from before have not returned"},
		{kprobes.RegisterKretprobe(many), syscall.ERANGE, "MaxActive is 1048577, more than 1048576"},
		{kprobes.RegisterKretprobe(big), syscall.ERANGE, "DataSize is 65537, more than 65536"},
		{kprobes.RegisterKretprobe(huge), syscall.ENOMEM, "more than a quarter of memory"},
		{module.Insmod("kretprobe_example", "func="+name, "maxactive=2000000"), syscall.ERANGE, "kretprobe_example: " + name},
	} {
		if !errors.Is(c.err, c.errno) || c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, want %v and %q", c.err, c.errno, c.says)
		}
	}
	release()
	kprobes.UnregisterKprobe(k)
	kprobes.UnregisterJprobe(j)
	suites.Equal(t, "at the end", state(), before)
}

// flyingCall unregisters the probe of parked while a call of it is in flight.
func flyingCall(t *suites.T, rp *kprobes.Kretprobe) (release func()) {
	in, out := make(chan bool), make(chan bool)
	t.Must(kprobes.RegisterKretprobe(rp))
	t.Go(func() {
		if parked(in, out) != 7 {
			t.Errorf("the parked call returned something else")
		}
	})
	<-in
	kprobes.UnregisterKretprobe(rp)
	rp.KP.Addr = entry(parked)
	return func() { close(out); t.Wait() }
}
