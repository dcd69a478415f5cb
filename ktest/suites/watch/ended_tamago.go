//go:build tamago

package watch

import (
	"fmt"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/probe/handler"
)

func init() {
	suites.Add("watch/accesses_in_a_probe_handler_that_loops", inLoop)
	suites.Add("watch/nothing_but_accesses_in_a_probe_handler", betweenHits)
	suites.Add("watch/probes_in_a_watch_handler_that_loops", probesInLoop)
}

// limited has handlers ended after ms milliseconds, until restore is called.
func limited(t *suites.T, ms string) (restore func()) {
	old := fmt.Sprint(handler.Limit.Get())
	t.Must(handler.Limit.Set(ms))
	again := suites.NoCollection() // a CPU that waits for its end would come too late
	return func() {
		again()
		t.Must(handler.Limit.Set(old))
	}
}

// inLoop: on all CPUs a probe's handler loops, and spends most of its time in the handler of what it accesses. It is
// ended, and that one is not. A CPU that comes when one has been ended finds the probe disabled. The handler used to
// loop for ever: as a rule the watch saw another one than the last time.
func inLoop(t *suites.T) {
	defer limited(t, "500")()
	endsAccessing(t, func() { pauseFor(30e3) }, func(*kwatch.Hit, *amd64.Regs) { pauseFor(70e3) })
}

// betweenHits: the handler does nothing else, so that it is mostly seen in a hit, but not in the hit's handler. It is
// not ended there: such a hit used to be counted as entered, and never as handled.
func betweenHits(t *suites.T) {
	defer limited(t, "100")()
	for range suites.Rounds(9, 90) {
		endsAccessing(t, func() {}, func(*kwatch.Hit, *amd64.Regs) {})
	}
}

// endsAccessing lets a probe's handler, which is ended, access word again and again on all CPUs.
func endsAccessing(t *suites.T, between func(), hit kwatch.Handler) {
	var ended atomic.Int32
	k := &kprobes.Kprobe{Addr: readAt, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int {
		for end := cpu.Nanotime() + 10e9; cpu.Nanotime() < end; between() {
			word++
		}
		ended.Add(1)
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	reg := on(t, wordAt(), 8, kwatch.Write, hit)
	t.Together(func(int) { readWord() })
	l := off(t, reg).Ledger
	kprobes.UnregisterKprobe(k)
	if p := k.Ledger(); p.Abandoned == 0 || p.Abandoned+p.Disarmed != uint64(cpu.Num()) || p.Unexplained() != 0 || ended.Load() != 0 || l.Handled == 0 || l.Abandoned != 0 {
		t.Errorf("of the watchpoint %+v; of the probe %d ended, %+v", l, ended.Load(), p)
	}
}

// probesInLoop: a watchpoint's handler that hits a probe again and again is ended, but not within such a hit: that CPU
// used to take all later hits of probes for nested ones.
func probesInLoop(t *suites.T) {
	defer limited(t, "100")()
	for _, post := range []bool{true, false} {
		k := probe(t, readAt, post)
		for range suites.Rounds(6, 60) {
			reg := on(t, wordAt(), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) {
				for end := cpu.Nanotime() + 10e9; cpu.Nanotime() < end; {
					readWord()
				}
			})
			t.Together(func(int) { incWord() })
			if l := off(t, reg).Ledger; l.Abandoned == 0 || l.Abandoned+l.Disarmed != uint64(cpu.Num()) {
				t.Errorf("%+v", l)
			}
			before := k.Hits()
			t.Together(func(int) { readWord() })
			if n, l := k.Hits()-before, k.Ledger(); n != uint64(cpu.Num()) || l.Unexplained() != 0 {
				t.Fatalf("post %v: afterwards the probe was hit %d times on %d CPUs; %+v", post, n, cpu.Num(), l)
			}
		}
		kprobes.UnregisterKprobe(k)
	}
}

func pauseFor(ns int64) {
	for end := cpu.Nanotime() + ns; cpu.Nanotime() < end; {
		cpu.Pause()
	}
}
