//go:build tamago

package optimized

import (
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kprobes"
	"sonde/optprobe"
	"sonde/qemu/suites"
	"sonde/qemu/suites/targets"
	"sonde/sysctl"
)

func init() {
	suites.Add("optimized/storm", func(t *suites.T) { storm(t, 4*time.Second) })
	suites.Add("optimized/storm_of_five_minutes", func(t *suites.T) {
		if k, err := sysctl.Lookup("debug.ktest-long"); err != nil || k.String() != "1" {
			t.Skipf("takes minutes: sysctl -w debug.ktest-long=1")
		}
		storm(t, 5*time.Minute)
	})
}

// seed of the storm's decisions; what the CPUs make of them is chance anyway.
var seed = sysctl.NewInt("debug.ktest-seed", 0, "seed of random tests; 0: another one each time")

// A weather is a storm: goroutines that call the targets on all CPUs while
// others set, change and remove probes on them. A witness is a probe that stays
// all the time: whatever happens around it, it must count every call.
type weather struct {
	t         *suites.T
	funcs     []targets.Func
	addrs     []uintptr            // entry of each
	offs      [][]uintptr          // its instructions
	calls     []atomic.Uint64      // calls of each by the callers
	inHandler atomic.Uint64        // calls of Nine by handlers
	wrong     atomic.Uint64        // of those, the ones with a wrong result
	kprobes   []*kprobes.Kprobe    // witnesses, nil for none
	returns   []*kprobes.Kretprobe // likewise; of one function one of the two
	end       time.Time
	actions   [16]atomic.Uint64 // times each of acts was done
}

// called are targets that others call: their number of calls is not known.
var called = []string{"Leaf", "Dynamic", "loud.shout"}

func storm(t *suites.T, d time.Duration) {
	defer knob(t, "1")
	s := seed.Get()
	if s == 0 {
		s = time.Now().UnixNano()
	}
	t.Logf("seed %d", s)
	w := &weather{t: t, funcs: targets.Funcs(), end: time.Now().Add(d)}
	before := optprobe.Counts()
	w.witnesses()
	for i := range cpu.Num() + 1 {
		t.Go(func() { w.call(rand.New(rand.NewSource(s + int64(i)))) })
	}
	for i := range 2 {
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
func (w *weather) witnesses() {
	n := len(w.funcs)
	w.calls, w.kprobes, w.returns = make([]atomic.Uint64, n), make([]*kprobes.Kprobe, n), make([]*kprobes.Kretprobe, n)
	for i, f := range w.funcs {
		k := &kprobes.Kprobe{SymbolName: targetsPkg + f.Name, PreHandler: pre}
		register(w.t, k)
		w.addrs = append(w.addrs, k.Addr)
		w.offs = append(w.offs, boundaries(w.t, function(w.t, k.Addr)))
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

// call calls targets at random until the end.
func (w *weather) call(r *rand.Rand) {
	for n := 0; time.Now().Before(w.end) && !w.t.Failed(); n++ {
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
		switch r.Intn(16) {
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

// A disturber holds the probes that it has set.
type disturber struct {
	*weather
	r   *rand.Rand
	ks  []*kprobes.Kprobe
	rps []*kprobes.Kretprobe
	js  []*kprobes.Jprobe
}

// acts are what a disturber does; the more often listed, the more often done.
var acts = [16]struct {
	name string
	do   func(d *disturber)
}{
	{"set", (*disturber).set}, {"set", (*disturber).set}, {"set", (*disturber).set},
	{"remove", (*disturber).remove}, {"remove", (*disturber).remove}, {"remove", (*disturber).remove},
	{"switch", (*disturber).toggle}, {"switch", (*disturber).toggle}, {"switch", (*disturber).toggle},
	{"return probe", (*disturber).setReturn},
	{"jprobe", (*disturber).setJprobe},
	{"sysctl", func(d *disturber) { knob(d.t, fmt.Sprint(d.r.Intn(2))) }},
	{"sysctl on", func(d *disturber) { knob(d.t, "1") }},
	{"optimize", func(d *disturber) { d.t.Must(optprobe.Optimize()) }},
	{"wait", func(d *disturber) { time.Sleep(time.Duration(d.r.Intn(4000)) * time.Microsecond) }},
	{"wait", func(d *disturber) { time.Sleep(time.Duration(d.r.Intn(4000)) * time.Microsecond) }},
}

// disturb sets and changes probes at random until the end.
func (w *weather) disturb(r *rand.Rand) {
	d := &disturber{weather: w, r: r}
	for time.Now().Before(w.end) && !w.t.Failed() {
		i := r.Intn(len(acts))
		acts[i].do(d)
		w.actions[i].Add(1)
	}
	for len(d.ks)+len(d.rps)+len(d.js) > 0 {
		d.remove()
	}
}

// place returns a random instruction of a random target; every third time an
// entry.
func (d *disturber) place() uintptr {
	i := d.r.Intn(len(d.funcs))
	if d.r.Intn(3) == 0 {
		return d.addrs[i]
	}
	return d.addrs[i] + d.offs[i][d.r.Intn(len(d.offs[i]))]
}

// set sets a probe somewhere, of one of several kinds.
func (d *disturber) set() {
	if len(d.ks) > 25 {
		d.remove()
	}
	k := at(d.place(), pre)
	switch d.r.Intn(8) {
	case 0:
		k.PostHandler = post
	case 1:
		k.PreHandler = func(*kprobes.Kprobe, *amd64.Regs) int { targets.Clobber(); return 0 }
	case 2:
		k.PreHandler = d.callsNine
	case 3:
		k.PreHandler = nil
	case 4:
		k.Flags = kprobes.FlagDisabled
	}
	if err := kprobes.RegisterKprobe(k); err == nil { // else it cannot be probed there
		d.ks = append(d.ks, k)
	}
}

// callsNine is a handler that calls a target: that call is missed there.
func (w *weather) callsNine(*kprobes.Kprobe, *amd64.Regs) int {
	if targets.Nine(1, 2, 3, 4, 5, 6, 7, 8, 9) != 285 {
		w.wrong.Add(1)
	}
	w.inHandler.Add(1)
	return 0
}

func (d *disturber) setReturn() {
	if len(d.rps) > 5 {
		return
	}
	rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: d.addrs[d.r.Intn(len(d.addrs))]}, Handler: ret, MaxActive: 1 + d.r.Intn(64)}
	d.t.Must(kprobes.RegisterKretprobe(rp))
	d.rps = append(d.rps, rp)
}

func (d *disturber) setJprobe() {
	if len(d.js) > 1 {
		return
	}
	j := kprobes.NewJprobe(targets.Small, func(uint64) uint64 { kprobes.JprobeReturn(); return 0 })
	if kprobes.RegisterJprobe(j) == nil { // else the other disturber has one
		d.js = append(d.js, j)
	}
}

// take removes a random element.
func take[T any](r *rand.Rand, list *[]T) T {
	i := r.Intn(len(*list))
	v := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return v
}

// remove takes away one probe, or several at once, and looks at their accounts.
func (d *disturber) remove() {
	switch n := d.r.Intn(8); {
	case n == 0 && len(d.js) > 0, len(d.ks)+len(d.rps) == 0 && len(d.js) > 0:
		kprobes.UnregisterJprobe(take(d.r, &d.js))
	case n < 3 && len(d.rps) > 0, len(d.ks) == 0 && len(d.rps) > 0:
		rp := take(d.r, &d.rps)
		kprobes.UnregisterKretprobe(rp)
		d.t.Until("the last probed call", func() bool { return rp.Ledger().InFlight == 0 })
		settled(d.t, rp)
	case len(d.ks) > 0:
		var gone []*kprobes.Kprobe
		for range 1 + d.r.Intn(3) {
			if len(d.ks) > 0 {
				gone = append(gone, take(d.r, &d.ks))
			}
		}
		kprobes.UnregisterKprobes(gone)
		for _, k := range gone {
			if l := k.Ledger(); l.Unexplained() != 0 || l.Abandoned != 0 {
				d.t.Errorf("account %+v, unexplained %d", l, l.Unexplained())
			}
		}
	}
}

// toggle disables or enables a probe.
func (d *disturber) toggle() {
	if len(d.ks) == 0 {
		return
	}
	k := d.ks[d.r.Intn(len(d.ks))]
	if d.r.Intn(2) == 0 {
		d.t.Must(kprobes.DisableKprobe(k))
	} else {
		d.t.Must(kprobes.EnableKprobe(k))
	}
}

// judge compares what the witnesses have counted with the calls there were.
func (w *weather) judge() {
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
	expect(w.t, "wrong results in handlers", w.wrong.Load(), 0)
	n := map[string]uint64{}
	for i := range acts {
		n[acts[i].name] += w.actions[i].Load()
	}
	w.t.Logf("%d calls, %d in handlers; %v", total, w.inHandler.Load(), n)
}
