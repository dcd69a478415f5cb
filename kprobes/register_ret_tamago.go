//go:build tamago

package kprobes

import (
	"syscall"

	"sonde/kernel/cpu"
)

// graveyard keeps return probes that were unregistered with calls in flight:
// those calls still return through their instances. guarded by mu
var graveyard []*Kretprobe

// maxMaxActive bounds MaxActive, as Linux's trace interface does.
const maxMaxActive = 1 << 20

// RegisterKretprobe establishes rp.
//
// Context: goroutine.
// Errors: as RegisterKprobe; EINVAL also for what is not the entry of a function
// or does not return to its caller; ERANGE MaxActive or DataSize is absurd.
// Source: spec/4 §4.3.
func RegisterKretprobe(rp *Kretprobe) error { return RegisterKretprobes([]*Kretprobe{rp}) }

// RegisterKretprobes registers each of rps, or none.
//
// Source: spec/4 §4.5.
func RegisterKretprobes(rps []*Kretprobe) error {
	ks := make([]*Kprobe, len(rps))
	for i, rp := range rps {
		ks[i] = &rp.KP
		if rp.KP.has(flagRegistered) {
			continue // register refuses it
		}
		n := rp.MaxActive
		if n <= 0 {
			n = cpu.Num() // not preemptible: spec/4 §1.3.1
		}
		if n > maxMaxActive || rp.DataSize > 1<<16 {
			return refuse(syscall.ERANGE, "kprobes: register return probe %s: MaxActive %d, DataSize %d",
				rp.KP.name(), n, rp.DataSize)
		}
		if rp.pool.used.Load() != 0 {
			return refuse(syscall.EBUSY, "kprobes: register return probe %s: %d calls from before have not returned",
				rp.KP.name(), rp.pool.used.Load())
		}
		rp.KP.kind = kindKretprobe
		rp.MaxActive = n
		rp.pool.init(rp, n, rp.DataSize)
	}
	return register(ks)
}

// UnregisterKretprobe removes rp. Calls that are in flight return as if there
// had been no probe.
//
// Source: spec/4 §4.4.
func UnregisterKretprobe(rp *Kretprobe) { UnregisterKretprobes([]*Kretprobe{rp}) }

// UnregisterKretprobes is UnregisterKretprobe for each of rps at once.
//
// Source: spec/4 §4.6.
func UnregisterKretprobes(rps []*Kretprobe) {
	mu.Lock()
	defer mu.Unlock()
	ks := make([]*Kprobe, len(rps))
	for i, rp := range rps {
		ks[i] = &rp.KP
		if rp.KP.has(flagRegistered) {
			graveyard = append(graveyard, rp)
		}
	}
	detach(ks)
	keep := graveyard[:0]
	for _, rp := range graveyard {
		if rp.pool.used.Load() > 0 {
			keep = append(keep, rp)
		}
	}
	clear(graveyard[len(keep):])
	graveyard = keep
}

// DisableKretprobe and EnableKretprobe are DisableKprobe and EnableKprobe for
// return probes. Calls entered before return without their handler.
func DisableKretprobe(rp *Kretprobe) error { return DisableKprobe(&rp.KP) }

// EnableKretprobe undoes DisableKretprobe.
func EnableKretprobe(rp *Kretprobe) error { return EnableKprobe(&rp.KP) }

// RegisterJprobe sets j on its function.
//
// Context: goroutine.
// Errors: as RegisterKprobe; EINVAL also when Entry is no function; EBUSY the
// function has a jprobe already.
// Source: spec/4 §4.2.
func RegisterJprobe(j *Jprobe) error { return RegisterJprobes([]*Jprobe{j}) }

// RegisterJprobes registers each of js, or none.
//
// Source: spec/4 §4.5.
func RegisterJprobes(js []*Jprobe) error {
	ks := make([]*Kprobe, len(js))
	for i, j := range js {
		ks[i] = &j.KP
		if j.KP.has(flagRegistered) {
			continue
		}
		j.KP.kind = kindJprobe
		if !j.setHandler() {
			return refuse(syscall.EINVAL, "kprobes: register jprobe %s: Entry is not a function", j.KP.name())
		}
	}
	return register(ks)
}

// UnregisterJprobe removes j.
//
// Source: spec/4 §4.4.
func UnregisterJprobe(j *Jprobe) { UnregisterKprobe(&j.KP) }

// UnregisterJprobes is UnregisterJprobe for each of js at once.
//
// Source: spec/4 §4.6.
func UnregisterJprobes(js []*Jprobe) {
	ks := make([]*Kprobe, len(js))
	for i, j := range js {
		ks[i] = &j.KP
	}
	UnregisterKprobes(ks)
}

// DisableJprobe and EnableJprobe are DisableKprobe and EnableKprobe for jprobes.
func DisableJprobe(j *Jprobe) error { return DisableKprobe(&j.KP) }

// EnableJprobe undoes DisableJprobe.
func EnableJprobe(j *Jprobe) error { return EnableKprobe(&j.KP) }
