//go:build tamago

package hostile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/module"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/optprobe"
	"sonde/sysctl"
	"sonde/uprobes"
)

func init() {
	suites.Add("hostile/inputs", func(t *suites.T) {
		t.OneProcessor()
		inputs(t, 4_000)
	})
	suites.Add("hostile/million_inputs", func(t *suites.T) {
		t.NeedsLong()
		inputs(t, 1_000_000)
	})
}

// An attempt is one input and what came of it.
type attempt struct {
	what string // the call and its arguments, for reports
	err  error
	undo func() // takes it back if it was accepted; may be nil
}

// A way in is a call, a file or a parameter that takes inputs.
type wayIn struct {
	name  string
	share int // of sum
	try   func(s *scene) attempt
	// accepted and refused count. nil errnos: those of others, any.
	accepted, refused atomic.Int64
	took              atomic.Int64 // ns
	errnos            []syscall.Errno
}

const (
	perRound = 500 // inputs on each CPU between two looks at what is left
)

// inputs tries n of them.
func inputs(t *suites.T, n int) {
	seed := seedOf()
	t.Logf("seed %d", seed)
	st := newStage(t)
	defer st.end()
	sum := 0
	for _, w := range waysIn {
		w.accepted.Store(0)
		w.refused.Store(0)
		sum += w.share
	}
	start, heap := time.Now(), uint64(0)
	done := 0
	for round := uint64(0); done < n && !t.Failed(); round++ {
		t.Together(func(i int) { st.play(seed+round<<8+uint64(i), sum) })
		done += perRound * suites.CPUs()
		st.look()
		if n > 100_000 && done/100_000 != (done-perRound*suites.CPUs())/100_000 {
			t.Logf("%d inputs after %v", done, time.Since(start).Round(time.Second))
		}
		if done >= n/2 && heap == 0 {
			heap = suites.HeapInUse()
		}
	}
	for _, w := range waysIn {
		t.Logf("count: hostile/%s-refused %d", w.name, w.refused.Load())
		t.Logf("count: hostile/%s-accepted %d", w.name, w.accepted.Load())
		t.Logf("%s: %d us each", w.name, w.took.Load()/1000/max(1, w.refused.Load()+w.accepted.Load()))
		if n >= 4_000 && w.refused.Load() == 0 {
			t.Errorf("%s: nothing was refused of %d", w.name, w.accepted.Load())
		}
	}
	grown := int64(suites.HeapInUse()) - int64(heap)
	t.Logf("%d inputs in %v; in the second half the heap grew by %d KiB", done, time.Since(start).Round(time.Second), grown>>10)
	if n >= 1_000_000 && grown > 2<<20 {
		t.Errorf("the heap has grown by %d bytes for each input", grown/int64(n/2))
	}
}

// seedOf is the seed that the sysctl sets, or a new one each time.
func seedOf() uint64 {
	if k, err := sysctl.Lookup("debug.ktest-seed"); err == nil {
		if n, ok := k.(*sysctl.Int); ok && n.Get() != 0 {
			return uint64(n.Get())
		}
	}
	return uint64(time.Now().UnixNano())
}

// play tries some inputs from one seed.
func (st *stage) play(seed uint64, sum int) {
	s := &scene{stage: st, source: newSource(seed, st.names)}
	for i := range perRound {
		at := s.IntN(sum)
		k := slices.IndexFunc(waysIn, func(w *wayIn) bool { at -= w.share; return at < 0 })
		s.one(waysIn[k], fmt.Sprintf("seed %d, input %d, %s", seed, i, waysIn[k].name))
	}
}

// one tries an input of w.
func (s *scene) one(w *wayIn, where string) {
	a := attempt{what: "?"}
	defer func() {
		if e := recover(); e != nil {
			s.t.Errorf("%s: %s: panic: %v", where, a.what, e)
		}
	}()
	from := time.Now()
	defer func() { w.took.Add(int64(time.Since(from))) }()
	a = w.try(s)
	if a.err == nil {
		w.accepted.Add(1)
		if a.undo != nil {
			a.undo()
		}
		return
	}
	w.refused.Add(1)
	if why := unsound(a.err, w.errnos); why != "" {
		s.t.Errorf("%s: %s: %v: %s", where, a.what, a.err, why)
	}
}

// unsound says what is wrong with an error: it has an errno that programs know, of those
// that the call's documentation names, and says why in words of its own.
func unsound(err error, errnos []syscall.Errno) string {
	var errno syscall.Errno
	switch {
	case !errors.As(err, &errno):
		return "it has no errno"
	case errnos != nil && !slices.Contains(errnos, errno):
		return "the call is not said to return that"
	case err.Error() == errno.Error():
		return "it gives no reason"
	case strings.Contains(err.Error(), "panicked"):
		return "something panicked"
	}
	return ""
}

// look checks that nothing is left of a round.
func (st *stage) look() {
	st.restore()
	st.t.Until("detours to be given back", func() bool { return optprobe.Counts().Detours == 0 })
	for what, n := range map[string]int{
		"bytes of text are changed": suites.TextChanged(), "slots are in use": kprobes.Slots().Used(), "watchpoints are left": len(kwatch.All()),
		"user probes are left": len(uprobes.All()), "probes are left": len(kprobes.All()), "modules are loaded": len(module.Loaded()),
	} {
		if n != 0 {
			st.t.Errorf("%d %s", n, what)
		}
	}
}
