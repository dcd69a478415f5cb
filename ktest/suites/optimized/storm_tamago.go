//go:build tamago

package optimized

import (
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
	"sonde/sysctl"
)

func init() {
	suites.Add("optimized/storm", func(t *suites.T) { storm(t, suites.Storm(2), "") })
	suites.Add("optimized/storm_of_five_minutes", func(t *suites.T) {
		t.NeedsLong()
		storm(t, 5*time.Minute, "")
	})
}

// seed of the storm's decisions; how the CPUs interleave is random all the same.
var seed = sysctl.NewInt("debug.ktest-seed", 0, "seed of random tests; 0: a new one each time")

// A stress is a storm while it goes on: goroutines call the targets on all CPUs while others set,
// change and remove probes on them. A witness is a probe that stays all the time: whatever happens
// around it, it must count every call.
type stress struct {
	t         *suites.T
	funcs     []targets.Func
	addrs     []uintptr            // entry of each
	offs      [][]uintptr          // its instructions
	calls     []atomic.Uint64      // calls of each by the callers
	inHandler atomic.Uint64        // calls of Nine by handlers
	wrong     atomic.Uint64        // of those, the ones with a wrong result
	kprobes   []*kprobes.Kprobe    // witnesses, nil for none
	returns   []*kprobes.Kretprobe // nil for none; a function has a witness of one kind
	small     bool                 // each call is on a small stack
	end       time.Time
	jumps     int               // that had gone in before
	actions   [16]atomic.Uint64 // times each of acts was done
}

// called are targets that others call: their number of calls is not known.
var called = []string{"Leaf", "Dynamic", "loud.shout"}

// storm runs a storm for d, with the elements whose names with contains.
func storm(t *suites.T, d time.Duration, with string) {
	defer setSysctl(t, "1")
	s := seed.Get()
	if s == 0 {
		s = time.Now().UnixNano()
	}
	t.Logf("seed %d", s)
	w := &stress{t: t, funcs: targets.Funcs(), end: time.Now().Add(d)}
	before := optprobe.Counts()
	w.jumps = before.Jumps
	w.witnesses()
	for _, e := range elements {
		if strings.Contains(with, e.name) {
			t.Go(func() { e.run(w) })
		}
	}
	disturbers := 2
	if strings.Contains(with, "switching") {
		disturbers = 2 * cpu.Num()
	}
	w.small = strings.Contains(with, "stacks")
	for i := range cpu.Num() + 1 {
		t.Go(func() { w.call(rand.New(rand.NewSource(s + int64(i)))) })
	}
	for i := range disturbers {
		t.Go(func() { w.disturb(rand.New(rand.NewSource(s - 1 - int64(i)))) })
	}
	t.Wait()
	w.judge()
	c := optprobe.Counts()
	t.Logf("%d jumps went in at %d stops, %v in all, the longest %v; %d found a CPU in a region", c.Jumps-before.Jumps,
		c.Stops-before.Stops, c.Stopped-before.Stopped, c.Longest, c.Retries-before.Retries)
	if c.Jumps == before.Jumps {
		t.Errorf("no jump ever went in")
	}
	clean(t)
}

// witnesses registers a kprobe or a return probe on each target.
func (w *stress) witnesses() {
	n := len(w.funcs)
	w.calls, w.kprobes, w.returns = make([]atomic.Uint64, n), make([]*kprobes.Kprobe, n), make([]*kprobes.Kretprobe, n)
	for i, f := range w.funcs {
		k := &kprobes.Kprobe{SymbolName: targetsPkg + f.Name, PreHandler: pre}
		register(w.t, k)
		w.addrs = append(w.addrs, k.Addr)
		w.offs = append(w.offs, boundaries(w.t, w.t.Containing(k.Addr)))
		switch {
		case slices.Contains(called, f.Name):
			kprobes.UnregisterKprobe(k)
		case i%3 == 2:
			kprobes.UnregisterKprobe(k)
			rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: w.addrs[i]}, Handler: ret, MaxActive: 4096}
			w.t.Must(kprobes.RegisterKretprobe(rp))
			w.returns[i] = rp
		default:
			w.kprobes[i] = k
		}
	}
}

// calledAll reports whether each target has been called, and a jump has gone in.
func (w *stress) calledAll() bool {
	for i := range w.calls {
		if w.calls[i].Load() == 0 {
			return false
		}
	}
	return optprobe.Counts().Jumps != w.jumps
}

// call calls targets at random until the end.
func (w *stress) call(r *rand.Rand) {
	for n := 0; w.until(w.calledAll); n++ {
		i := r.Intn(len(w.funcs))
		f := w.funcs[i]
		times := 1 + r.Intn(20)
		body := func() {
			for range times {
				if got := f.Call(); got != f.Want {
					w.t.Errorf("%s returns %d, want %d", f.Name, got, f.Want)
				}
			}
		}
		w.calls[i].Add(uint64(times) * f.Calls)
		how := r.Intn(16)
		if w.small {
			how = 0
		}
		switch how {
		case 0: // on a small stack, which grows
			done := make(chan bool)
			w.t.Go(func() { defer close(done); body() })
			<-done
		case 1:
			descend(r.Intn(60), func() bool { return true })
			body()
		case 2:
			runtime.Gosched()
			body()
		default:
			body()
		}
		if n%512 == 0 {
			runtime.GC()
		}
	}
}

// judge compares what the witnesses have counted with the calls there were.
func (w *stress) judge() {
	var total uint64
	for i, f := range w.funcs {
		want, missed := w.calls[i].Load(), uint64(0)
		total += want
		if f.Name == "Nine" {
			missed = w.inHandler.Load()
		}
		var l kprobes.Ledger
		switch {
		case w.kprobes[i] != nil:
			kprobes.UnregisterKprobe(w.kprobes[i])
			l = w.kprobes[i].Ledger()
		case w.returns[i] != nil:
			kprobes.UnregisterKretprobe(w.returns[i])
			l = w.returns[i].Ledger()
		default:
			continue
		}
		if l.Entered != want+missed || l.Handled != want || l.Recursion != missed || l.Unexplained() != 0 {
			w.t.Errorf("%s: %d calls and %d in handlers, but %+v", f.Name, want, missed, l)
		}
		if want == 0 {
			w.t.Errorf("%s was never called", f.Name)
		}
	}
	suites.Equal(w.t, "wrong results in handlers", w.wrong.Load(), 0)
	n := map[string]uint64{}
	for i := range acts {
		n[acts[i].name] += w.actions[i].Load()
	}
	w.t.Logf("count: storms/calls %d", total)
	w.t.Logf("%d calls, %d in handlers; %v", total, w.inHandler.Load(), n)
}
