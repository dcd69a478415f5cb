//go:build tamago

package handlers

import (
	"fmt"
	"strings"
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/probe/handler"
)

// An attempt is a violation that is committed once, when armed.
type attempt struct {
	violation
	armed    atomic.Bool
	survived atomic.Uint64 // times the handler continued after it
}

func newAttempt(m violation) *attempt { return &attempt{violation: m} }

// once is what the bad handler calls.
func (o *attempt) once() {
	if o.armed.CompareAndSwap(true, false) {
		o.f()
		o.survived.Add(1)
	}
}

// someOnOthers leaves the ith of many cases that differ only in what the handler does to one machine,
// but for one in four.
func someOnOthers(t *suites.T, i int) {
	if i%4 != 0 {
		t.OneProcessor()
	}
}

// everywhere commits a violation in each kind of handler.
func everywhere(t *suites.T, m violation) {
	for _, k := range kinds {
		if t.Failed() {
			return
		}
		o := newAttempt(m)
		b := k.bad(o.once)
		contained(t, k.name, o, b)
	}
}

// contained registers the bad probe between good ones, makes it misbehave at the third hit, and
// checks everything else.
func contained(t *suites.T, what string, o *attempt, b *bad) {
	since := suites.Mark()
	const before, after = 2, 10
	ahead := newGood(t, victim, false)
	t.Must(b.register())
	behind := newGood(t, victim, false)
	for i := range uint64(before + 1 + after) {
		if i == before {
			o.armed.Store(true)
		}
		suites.Equal(t, what+": victim", victim(i), i*3+3)
	}
	if o.survived.Load() != 0 {
		t.Errorf("%s was not abandoned", what)
	}
	isDisabled(t, what, o, b, since)
	isWell(t, what)
	b.unregister()
	ahead.remove(t, what+", registered before", before+1+after)
	behind.remove(t, what+", registered after", before+1+after)

	l := b.ledger()
	suites.Equal(t, what+": Handled", l.Handled, before)
	suites.Equal(t, what+": Abandoned", l.Abandoned, 1)
	suites.Equal(t, what+": InFlight", l.InFlight, 0)
	if l.Unexplained() != 0 {
		t.Errorf("%s: account %+v, unexplained %d", what, l, l.Unexplained())
	}
}

// isDisabled checks what is said about the bad probe: once in the log, in the
// list, and by the error when it is enabled.
func isDisabled(t *suites.T, what string, o *attempt, b *bad, since uint64) {
	if n := suites.Logged(since, "abandoned: "); n != 1 {
		t.Errorf("%s: %d reports", what, n)
	}
	if n := suites.Logged(since, "abandoned: ", "handlers.victim+0x0/", o.says, "the probe is disabled"); n != 1 {
		t.Errorf("%s: the report does not say victim and %q", what, o.says)
	}
	if b.canEnable() {
		t.Errorf("%s: the probe can be enabled again", what)
	}
	list, err := vfs.ReadFile("/sys/kernel/debug/kprobes/list")
	t.Must(err)
	marked := 0
	for line := range strings.Lines(string(list)) {
		if strings.Contains(line, "handlers.victim+0x0") && strings.Contains(line, "[GONE][DISABLED]") {
			marked++
		}
	}
	if marked != 1 {
		t.Errorf("%s: not one [GONE][DISABLED] in\n%s", what, list)
	}
}

// isWell makes every CPU hit probes of every kind, on another function.
func isWell(t *suites.T, what string) {
	const calls = 20
	g := newGood(t, bystander, true)
	t.Together(func(int) {
		for i := range uint64(calls) {
			suites.Equal(t, what+": bystander", bystander(i), i^9)
		}
	})
	g.remove(t, what+", elsewhere", calls*uint64(cpu.Num()))
}

// limit sets how long handlers may run and returns how to set it back.
func limit(t *suites.T, ms string) (restore func()) {
	const file = "/proc/sys/debug/kprobes-handler-limit-ms"
	old := fmt.Sprint(handler.Limit.Get())
	t.Must(vfs.WriteFile(file, []byte(ms+"\n")))
	return func() { t.Must(vfs.WriteFile(file, []byte(old+"\n"))) }
}
