//go:build tamago

package control

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

// The cases of Linux's own unit test, lib/test_kprobes.c (Linux 6.7 has the one
// about missed hits), one by one and by their names there.

func init() {
	suites.Add("control/linux_test_kprobe", linuxKprobe)
	suites.Add("control/linux_test_kprobes", linuxKprobes)
	suites.Add("control/linux_test_kprobe_missed", linuxMissed)
	suites.Add("control/linux_test_kretprobe", linuxKretprobe)
	suites.Add("control/linux_test_kretprobes", linuxKretprobes)
	suites.Add("control/linux_test_stacktrace_on_kretprobe", linuxStack)
	suites.Add("control/linux_test_stacktrace_on_nested_kretprobe", linuxNestedStack)
}

const divFactor = 3

//go:noinline
func kprobeTarget(value uint64) uint64 { return value / divFactor }

//go:noinline
func kprobeTarget2(value uint64) uint64 { return value/divFactor + 1 }

//go:noinline
func recursionTarget(value uint64) uint64 { return value / divFactor * 2 }

//go:noinline
func stacktraceTarget() uint64 { return kprobeTarget(9) + 1 }

//go:noinline
func stacktraceDriver() uint64 { return stacktraceTarget() + 1 }

// seen is what the handlers of a case have found.
type seen struct {
	pre, post, entry, ret atomic.Uint64
	preempted             atomic.Uint64 // handlers of kprobes that ran with interrupts on
	recurse               bool          // handlers call recursionTarget
}

// note counts a call of a handler. Linux also checks here that it is not preempted;
// on this kernel nothing is.
func (s *seen) note(n *atomic.Uint64) {
	n.Add(1)
	if s.recurse {
		recursionTarget(1)
	}
}

// lookAround notes whether the handler could be preempted.
func (s *seen) lookAround() {
	flags := cpu.IRQOff()
	cpu.IRQRestore(flags)
	if flags&amd64.RFLAGS_IF != 0 {
		s.preempted.Add(1)
	}
}

func (s *seen) kprobe(f any) *kprobes.Kprobe {
	return &kprobes.Kprobe{Addr: entry(f),
		PreHandler:  func(*kprobes.Kprobe, *amd64.Regs) int { s.lookAround(); s.note(&s.pre); return 0 },
		PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) { s.lookAround(); s.note(&s.post) }}
}

// kretprobe's return handler compares the result with want's.
func (s *seen) kretprobe(f any, want *uint64) *kprobes.Kretprobe {
	return &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(f)},
		EntryHandler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { s.note(&s.entry); return 0 },
		Handler: func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
			if kprobes.RegsReturnValue(r) == *want {
				s.note(&s.ret)
			}
			return 0
		}}
}

// expect checks how often each handler was called.
func (s *seen) expect(t *suites.T, pre, post, entry, ret uint64) {
	have := [...]uint64{s.pre.Load(), s.post.Load(), s.entry.Load(), s.ret.Load()}
	if want := [...]uint64{pre, post, entry, ret}; have != want {
		t.Errorf("pre, post, entry and return handlers called %v times, want %v", have, want)
	}
	suites.Equal(t, "handlers with interrupts on", fmt.Sprint(s.preempted.Load()), "0")
}

func (s *seen) oneKprobe(t *suites.T) {
	k := s.kprobe(kprobeTarget)
	t.Must(kprobes.RegisterKprobe(k))
	kprobeTarget(rand.Uint64())
	kprobes.UnregisterKprobe(k)
	kprobeTarget(rand.Uint64())
}

func (s *seen) twoKprobes(t *suites.T) {
	ks := []*kprobes.Kprobe{s.kprobe(kprobeTarget), s.kprobe(kprobeTarget2)}
	t.Must(kprobes.RegisterKprobes(ks))
	kprobeTarget(rand.Uint64())
	kprobeTarget2(rand.Uint64())
	kprobes.UnregisterKprobes(ks)
}

func (s *seen) oneKretprobe(t *suites.T) {
	value := rand.Uint64()
	want := value / divFactor
	rp := s.kretprobe(kprobeTarget, &want)
	t.Must(kprobes.RegisterKretprobe(rp))
	kprobeTarget(value)
	kprobes.UnregisterKretprobe(rp)
}

func (s *seen) twoKretprobes(t *suites.T) {
	value := rand.Uint64()
	want, want2 := value/divFactor, value/divFactor+1
	rps := []*kprobes.Kretprobe{s.kretprobe(kprobeTarget, &want), s.kretprobe(kprobeTarget2, &want2)}
	t.Must(kprobes.RegisterKretprobes(rps))
	kprobeTarget(value)
	kprobeTarget2(value)
	kprobes.UnregisterKretprobes(rps)
}

func linuxKprobe(t *suites.T) {
	var s seen
	s.oneKprobe(t)
	s.expect(t, 1, 1, 0, 0)
}

func linuxKprobes(t *suites.T) {
	var s seen
	s.twoKprobes(t)
	s.expect(t, 2, 2, 0, 0)
}

func linuxKretprobe(t *suites.T) {
	var s seen
	s.oneKretprobe(t)
	s.expect(t, 0, 0, 1, 1)
}

func linuxKretprobes(t *suites.T) {
	var s seen
	s.twoKretprobes(t)
	s.expect(t, 0, 0, 2, 2)
}

// linuxMissed makes every handler of the cases above hit a probe.
func linuxMissed(t *suites.T) {
	var missed seen
	k := missed.kprobe(recursionTarget)
	t.Must(kprobes.RegisterKprobe(k))
	s := seen{recurse: true}
	s.oneKprobe(t)
	s.twoKprobes(t)
	s.oneKretprobe(t)
	s.twoKretprobes(t)
	kprobes.UnregisterKprobe(k)
	s.expect(t, 3, 3, 3, 3)
	missed.expect(t, 0, 0, 0, 0)
	suites.Equal(t, "NMissed", fmt.Sprint(k.NMissed()), "12")
}

// trace makes the return handlers of functions print their stacks during a call,
// and returns the functions in them, one text per handler.
func trace(t *suites.T, call func() uint64, functions ...any) []string {
	since := logEnd()
	var rps []*kprobes.Kretprobe
	for _, f := range functions {
		rp := returnOf(f)
		rp.Handler = func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { die.DumpStack(r); return 0 }
		rps = append(rps, rp)
	}
	t.Must(kprobes.RegisterKretprobes(rps))
	call()
	kprobes.UnregisterKretprobes(rps)
	var log strings.Builder
	for rec := range printk.Records() {
		if rec.Seq >= since {
			fmt.Fprintf(&log, "%s\n", rec.Text())
		}
	}
	return strings.Split(log.String(), "Call Trace:\n")[1:]
}

// expectTrace checks that the callers are found in a trace in that order, the
// first at its top, and the trampoline is not.
func expectTrace(t *suites.T, what, text string, callers ...string) {
	if strings.Contains(text, "trampoline") {
		t.Errorf("%s: the trampoline is seen:\n%s", what, text)
	}
	lines := strings.Split(text, "\n")
	for i, want := range callers {
		if i >= len(lines) || !strings.Contains(lines[i], "control."+want+"+0x") {
			t.Errorf("%s: line %d is not about %s:\n%s", what, i, want, text)
			return
		}
	}
}

func linuxStack(t *suites.T) {
	all := trace(t, stacktraceDriver, stacktraceTarget)
	if len(all) != 1 {
		t.Fatalf("%d traces", len(all))
	}
	expectTrace(t, "target", all[0], "stacktraceDriver", "trace", "linuxStack")
}

func linuxNestedStack(t *suites.T) {
	all := trace(t, stacktraceDriver, stacktraceDriver, stacktraceTarget)
	if len(all) != 2 {
		t.Fatalf("%d traces", len(all))
	}
	expectTrace(t, "inner", all[0], "stacktraceDriver", "trace", "linuxNestedStack")
	expectTrace(t, "outer", all[1], "trace", "linuxNestedStack")
}
