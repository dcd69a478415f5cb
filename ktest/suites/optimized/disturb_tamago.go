//go:build tamago

package optimized

import (
	"fmt"
	"math/rand"
	"slices"
	"time"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites/targets"
	"sonde/optprobe"
)

// A disturber holds the probes that it has set.
type disturber struct {
	*stress
	r   *rand.Rand
	ks  []*kprobes.Kprobe
	rps []*kprobes.Kretprobe
	js  []*kprobes.Jprobe
}

// acts are what a disturber does. What is listed more often is done more often.
var acts = [16]struct {
	name string
	do   func(d *disturber)
}{
	{"set", (*disturber).set}, {"set", (*disturber).set}, {"set", (*disturber).set},
	{"remove", (*disturber).remove}, {"remove", (*disturber).remove}, {"remove", (*disturber).remove},
	{"switch", (*disturber).toggle}, {"switch", (*disturber).toggle}, {"switch", (*disturber).toggle},
	{"return probe", (*disturber).setReturn},
	{"jprobe", (*disturber).setJprobe},
	{"sysctl", func(d *disturber) { setSysctl(d.t, fmt.Sprint(d.r.Intn(2))) }},
	{"sysctl on", func(d *disturber) { setSysctl(d.t, "1") }},
	{"optimize", func(d *disturber) { d.t.Must(optprobe.Optimize()) }},
	{"wait", func(d *disturber) { time.Sleep(time.Duration(d.r.Intn(4000)) * time.Microsecond) }},
	{"wait", func(d *disturber) { time.Sleep(time.Duration(d.r.Intn(4000)) * time.Microsecond) }},
}

// disturb sets and changes probes at random until the end.
func (w *stress) disturb(r *rand.Rand) {
	d := &disturber{stress: w, r: r}
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
func (w *stress) callsNine(*kprobes.Kprobe, *amd64.Regs) int {
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

// remove takes away one probe, or several at once, and checks their accounts.
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
