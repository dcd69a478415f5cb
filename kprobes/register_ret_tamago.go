//go:build tamago

package kprobes

import (
	"fmt"
	"syscall"
	"unsafe"

	"sonde/kernel/cpu"
	"sonde/kernel/mm"
)

// graveyard keeps return probes that were unregistered with calls in flight:
// those calls still return through their instances. guarded by mu
var graveyard []*Kretprobe

// What a return probe may ask for: calls at the same time, far beyond the
// goroutines of this kernel, and bytes for each.
const (
	maxMaxActive = 1 << 20
	maxDataSize  = 1 << 16
)

// RegisterKretprobe establishes rp.
//
// Context: goroutine.
// Errors: as RegisterKprobe; EINVAL also for what is not the entry of a function
// or does not return to its caller; ERANGE MaxActive or DataSize is absurd; ENOMEM
// there is no memory for so many instances; EBUSY it was registered before, and
// calls from then have not returned.
// Source: spec/4 §4.3.
func RegisterKretprobe(rp *Kretprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return RegisterKretprobes([]*Kretprobe{rp})
}

// RegisterKretprobes registers each of rps, or none.
//
// Source: spec/4 §4.5.
func RegisterKretprobes(rps []*Kretprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	ks := make([]*Kprobe, len(rps))
	for i, rp := range rps {
		ks[i] = &rp.KP
		if rp.KP.has(flagRegistered) {
			continue // register refuses it
		}
		if err := rp.prepare(); err != nil {
			return fmt.Errorf("kprobes: register return probe %s: %w", rp.KP.name(), err)
		}
	}
	return register(ks)
}

// prepare makes the instances.
//
// Errors: ERANGE, ENOMEM, EBUSY: see RegisterKretprobe.
func (rp *Kretprobe) prepare() error {
	n := rp.MaxActive
	if n <= 0 {
		n = cpu.Num() // not preemptible: spec/4 §1.3.1
	}
	each := uint64(unsafe.Sizeof(KretprobeInstance{}) + rp.DataSize)
	switch flying := rp.pool.inUse(); {
	case n > maxMaxActive:
		return refuse(syscall.ERANGE, "MaxActive is %d, more than %d", n, maxMaxActive)
	case rp.DataSize > maxDataSize:
		return refuse(syscall.ERANGE, "DataSize is %d, more than %d", rp.DataSize, maxDataSize)
	case flying != 0:
		return refuse(syscall.EBUSY, "%d calls from before have not returned", flying)
	case uint64(n)*each > mm.Usable/4:
		return refuse(syscall.ENOMEM, "%d instances of %d bytes need %d MiB, more than a quarter of memory",
			n, each, uint64(n)*each>>20)
	}
	if rp.KP.has(flagUsed) {
		// Who gives an instance back may not have put it on a list yet.
		mu.Lock()
		outside()
		mu.Unlock()
	}
	rp.KP.kind = kindKretprobe
	rp.MaxActive = n
	rp.pool.init(rp, n, cpu.Num(), rp.DataSize)
	return nil
}

// UnregisterKretprobe removes rp. Calls that are in flight return as if there
// had been no probe: when it returns no handler of rp's is called any more.
//
// Source: spec/4 §4.4.
func UnregisterKretprobe(rp *Kretprobe) {
	cpu.Forbid("unregisters a return probe")
	UnregisterKretprobes([]*Kretprobe{rp})
}

// UnregisterKretprobes is UnregisterKretprobe for each of rps at once.
//
// Source: spec/4 §4.6.
func UnregisterKretprobes(rps []*Kretprobe) {
	cpu.Forbid("unregisters return probes")
	mu.Lock()
	defer mu.Unlock()
	ks := make([]*Kprobe, len(rps))
	for i, rp := range rps {
		ks[i] = &rp.KP
	}
	detachAll(ks)
}

// detachAll is detach for probes of any kind.
func detachAll(ks []*Kprobe) {
	for _, k := range ks {
		if k.kind == kindKretprobe && k.has(flagRegistered) {
			graveyard = append(graveyard, asKretprobe(k))
		}
	}
	detach(ks)
	keep := graveyard[:0]
	for _, rp := range graveyard {
		if rp.pool.inUse() > 0 {
			keep = append(keep, rp)
		}
	}
	clear(graveyard[len(keep):])
	graveyard = keep
}

// DisableKretprobe and EnableKretprobe are DisableKprobe and EnableKprobe for
// return probes. A call that was entered before, and that the entry handler has not
// declined, still has its return handler called (spec/4 §1.3.2).
func DisableKretprobe(rp *Kretprobe) error { return DisableKprobe(&rp.KP) }

// EnableKretprobe undoes DisableKretprobe.
func EnableKretprobe(rp *Kretprobe) error { return EnableKprobe(&rp.KP) }

// RegisterJprobe sets j on its function.
//
// Context: goroutine.
// Errors: as RegisterKprobe; EINVAL also when Entry is no function; E2BIG its
// arguments and results on the stack are more than a kilobyte; EBUSY the function has
// a jprobe already.
// Source: spec/4 §4.2.
func RegisterJprobe(j *Jprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	return RegisterJprobes([]*Jprobe{j})
}

// RegisterJprobes registers each of js, or none.
//
// Source: spec/4 §4.5.
func RegisterJprobes(js []*Jprobe) error {
	if err := inHandler(); err != nil {
		return err
	}
	ks := make([]*Kprobe, len(js))
	for i, j := range js {
		ks[i] = &j.KP
		if j.KP.has(flagRegistered) {
			continue
		}
		j.KP.kind = kindJprobe
		if err := j.setHandler(); err != nil {
			return fmt.Errorf("kprobes: register jprobe %s: %w", j.KP.name(), err)
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
	cpu.Forbid("unregisters jprobes")
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
