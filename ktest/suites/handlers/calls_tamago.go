//go:build tamago

package handlers

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/grace"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	for i, m := range forbidden {
		suites.Add("handlers/"+m.name, func(t *suites.T) {
			someOnOthers(t, i)
			everywhere(t, m)
			goesOn(t)
		})
	}
	for i, c := range refused {
		suites.Add("handlers/"+c.name, func(t *suites.T) {
			someOnOthers(t, i)
			isRefused(t, c.name, c.says, c.f)
		})
	}
}

// What the violations below use. All of it must still work afterwards: they used to leave it locked,
// marked as in use, or counted without waking any goroutine.
var (
	unlocked sync.Mutex
	unread   sync.RWMutex
	waited   sync.WaitGroup
	cond     = sync.NewCond(&unlocked)
	byWord   = map[uint64]int{1: 1}
	byName   = map[string]int{"a": 1}
	closable = make(chan int)
	alarm    = time.NewTimer(time.Hour)
	stats    runtime.MemStats
	lines    [1 << 10]byte
	other    = &kprobes.Kprobe{}
	otherRet = &kprobes.Kretprobe{}
	otherJ   = &kprobes.Jprobe{}
)

// forbidden are calls that wait or change what others share, and have no error to
// return.
var forbidden = []violation{
	{"unregisters_a_kprobe", "unregisters", func() { kprobes.UnregisterKprobe(other) }},
	{"unregisters_a_return_probe", "unregisters", func() { kprobes.UnregisterKretprobe(otherRet) }},
	{"unregisters_a_jprobe", "unregisters", func() { kprobes.UnregisterJprobe(otherJ) }},
	{"disarms_all_probes", "arms or disarms", func() { kprobes.SetEnabled(false) }},
	{"takes_the_jumps_out", "jumps", func() { kprobes.SetJumps(false) }},
	{"waits_for_a_grace_period", "grace period", func() { grace.Synchronize() }},
	{"asks_whether_probes_are_enabled", "mutex", func() { kprobes.Enabled() }},
	{"locks_what_is_free", "mutex", func() { unlocked.Lock() }},
	{"tries_to_lock", "mutex", func() { unlocked.TryLock() }},
	{"locks_for_reading", "mutex", func() { unread.RLock() }},
	{"locks_and_panics", "mutex", func() { unlocked.Lock(); panic("locked") }},
	{"unlocks", "mutex", func() { held.Unlock() }},
	{"is_done_with_a_wait_group", "wait group", func() { waited.Add(1) }},
	{"waits_for_a_condition", "condition", func() { cond.Wait() }},
	{"signals_a_condition", "condition", func() { cond.Signal() }},
	{"collects_garbage", "lock of the runtime", func() { runtime.GC() }},
	{"reads_memory_statistics", "", func() { runtime.ReadMemStats(&stats) }},
	{"dumps_all_stacks", "", func() { runtime.Stack(lines[:], true) }},
	{"prints", "lock of the runtime", func() { println("from a handler") }},
	{"starts_a_goroutine", "", func() { go runtime.Gosched() }},
	{"yields", "mcall", func() { runtime.Gosched() }},
	{"ends_its_goroutine", "", func() { runtime.Goexit() }},
	{"closes_a_channel", "channel operation", func() { close(closable) }},
	{"writes_to_a_map_by_word", "map", func() { byWord[1]++ }},
	{"writes_to_a_map_by_name", "map", func() { byName["a"]++ }},
	{"deletes_from_a_map", "map", func() { delete(byWord, 1) }},
	{"clears_a_map", "map", func() { clear(byName) }},
	{"stops_a_timer", "lock of the runtime", func() { alarm.Stop() }},
}

// refused are the calls that return an error.
var refused = []struct {
	name, says string
	f          func() error
}{
	{"registering_a_kprobe_is_refused", "a handler may not", func() error { return kprobes.RegisterKprobe(other) }},
	{"registering_kprobes_is_refused", "a handler may not", func() error { return kprobes.RegisterKprobes(nil) }},
	{"registering_a_return_probe_is_refused", "a handler may not", func() error { return kprobes.RegisterKretprobe(otherRet) }},
	{"registering_return_probes_is_refused", "a handler may not", func() error { return kprobes.RegisterKretprobes(nil) }},
	{"registering_a_jprobe_is_refused", "a handler may not", func() error { return kprobes.RegisterJprobe(otherJ) }},
	{"registering_jprobes_is_refused", "a handler may not", func() error { return kprobes.RegisterJprobes(nil) }},
	{"disabling_a_kprobe_is_refused", "a handler may not", func() error { return kprobes.DisableKprobe(other) }},
	{"enabling_a_kprobe_is_refused", "a handler may not", func() error { return kprobes.EnableKprobe(other) }},
	{"disabling_a_return_probe_is_refused", "a handler may not", func() error { return kprobes.DisableKretprobe(otherRet) }},
	{"enabling_a_jprobe_is_refused", "a handler may not", func() error { return kprobes.EnableJprobe(otherJ) }},
}

// isRefused makes each kind of handler make a call, which must return EDEADLK with
// a reason, and leave the handler and everything else alone.
func isRefused(t *suites.T, what, says string, call func() error) {
	for _, kind := range kinds {
		var err error
		calls := 0
		b := kind.bad(func() { err = call(); calls++ })
		t.Must(b.register())
		for i := range uint64(5) {
			suites.Equal(t, what+" in a "+kind.name+": victim", victim(i), i*3+3)
		}
		b.unregister()
		if !errors.Is(err, syscall.EDEADLK) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s in a %s: %v, want EDEADLK and %q", what, kind.name, err, says)
		}
		if l := b.ledger(); calls != 5 || l.Abandoned != 0 || l.Unexplained() != 0 {
			t.Errorf("%s in a %s: %d calls, account %+v", what, kind.name, calls, l)
		}
	}
	goesOn(t)
}

// goesOn uses what the violations above have used.
func goesOn(t *suites.T) {
	isWell(t, "afterwards")
	runtime.GC()
	runtime.ReadMemStats(&stats)
	unlocked.Lock()
	byWord[2], byName["b"] = 2, 2
	suites.Equal(t, "maps", uint64(byWord[1]+byName["a"]), 2)
	unlocked.Unlock()
	unread.Lock()
	unread.Unlock()
	wakes(t)
	done := make(chan bool)
	time.AfterFunc(time.Millisecond, func() { close(done) })
	<-done
	if !alarm.Reset(time.Hour) {
		t.Errorf("the timer does not run any more")
	}
	select {
	case <-closable:
		t.Errorf("the channel is closed")
	default:
	}
	if held.TryLock() {
		t.Errorf("what is held for good can be locked")
	}
	if !kprobes.Enabled() {
		t.Errorf("all probes are disarmed")
	}
}

// wakes makes a goroutine wait for a condition and another for the first.
func wakes(t *suites.T) {
	ready := false
	waited.Add(1)
	t.Go(func() {
		defer waited.Done()
		unlocked.Lock()
		defer unlocked.Unlock()
		for !ready {
			cond.Wait()
		}
	})
	unlocked.Lock()
	ready = true
	unlocked.Unlock()
	cond.Signal()
	waited.Wait()
}
