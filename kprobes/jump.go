package kprobes

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
	"unsafe"

	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// A site can be hit by a jump instead of a breakpoint: kprobes.txt §1.4. What jumps
// look like, and which sites may have one, is package optprobe's; it finds here
// what there is to do, and has it done.

// An Optimizer makes detours: package optprobe.
type Optimizer interface {
	// Kick says that Candidates may have something new. Context: goroutine, mu held.
	Kick()
	// Finish returns when what has been kicked is done. Context: goroutine.
	Finish()
}

// guarded by mu:
var (
	optimizer Optimizer // set once, at boot
	noJumps   bool      // what SetJumps has said
)

// SetOptimizer makes o the optimizer.
//
// Context: boot, goroutine.
func SetOptimizer(o Optimizer) {
	mu.Lock()
	defer mu.Unlock()
	optimizer = o
}

// AwaitJumps waits until the optimizer has done what there is to do, so that who
// asks right after registering a probe is told what it will be.
func AwaitJumps() {
	mu.Lock()
	o := optimizer
	mu.Unlock()
	if o != nil {
		o.Finish()
	}
}

// A Candidate is an armed probe that could be hit by a jump but is not.
type Candidate struct {
	Addr   uintptr         // the probed address
	Check  int             // bytes of the stack check there, as kprobes decides it: up to its last branch
	Detour *detour.Detour  // nil if it has none yet
	Begins detour.Template // what a detour for the probes there begins with

	turn int // as seen then
}

// Candidates returns the places with no post-handler and no jprobe, and with no
// other probe within their detour, in order of address. After SetJumps(false)
// there are none.
func Candidates() (list []Candidate) {
	mu.Lock()
	defer mu.Unlock()
	if noJumps {
		return nil
	}
	for s := range sites.All {
		if s.armed && !s.jumped && s.jumpable() && (s.detour == nil || !s.crowded()) {
			list = append(list, Candidate{s.Addr, int(s.Check.Len), s.detour, s.template(), s.turn})
		}
	}
	slices.SortFunc(list, func(a, b Candidate) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// Optimized reports whether the probe at addr is hit by a jump.
func Optimized(addr uintptr) bool {
	mu.Lock()
	defer mu.Unlock()
	s := sites.Find(addr)
	return s != nil && s.jumped
}

// Original returns the n bytes of code at addr as the image has them, without
// what probes have put there.
func Original(addr, n uintptr) []byte {
	mu.Lock()
	defer mu.Unlock()
	return original(addr, n)
}

// Bind gives c's site a detour: from now on a breakpoint there goes on in the
// detour's copy too, instead of coming back into the region from a slot. It
// reports whether there is such a site and it had none.
func (c *Candidate) Bind(d *detour.Detour) bool {
	mu.Lock()
	defer mu.Unlock()
	s := sites.Find(d.Addr)
	if s == nil || s.detour != nil || len(s.probes()) == 0 {
		return false
	}
	machine.This.Write(d.SiteAt, binary.LittleEndian.AppendUint64(nil, uint64(uintptr(unsafe.Pointer(s)))))
	d.Site, s.detour = s, d
	detours++
	s.resume.Store(d.Resume)
	s.decide()
	c.Detour, c.turn = d, s.turn
	return true
}

// ErrRetry is what Jump returns when nothing was changed because some CPU stood in
// the code to be replaced.
var ErrRetry = machine.ErrRetry

// Jump replaces the breakpoints of list by jumps, all at one stop of the machine,
// which took stopped. Those that are not as they were when they got their detour,
// or were listed, are left out. A grace period must have passed since then, so
// that no CPU is in a region or will come back into it.
//
// Errors: ErrRetry, and what stopping the machine and writing text return;
// nothing has changed then.
// Source: kprobes.txt §1.4.5.
func Jump(cands []Candidate) (done int, stopped time.Duration, err error) {
	mu.Lock()
	defer mu.Unlock()
	var list []*site
	for _, c := range cands {
		s := sites.Find(c.Addr)
		if s != nil && s.detour == c.Detour && s.turn == c.turn && s.armed && !s.jumped &&
			s.jumpable() && place.How(s.how.Load()) == place.Detoured {
			list = append(list, s)
		}
	}
	if noJumps || len(list) == 0 {
		return 0, 0, nil
	}
	if stopped, err = swap(list, true); err != nil {
		return 0, stopped, err
	}
	return len(list), stopped, nil
}

// Recheck is told that addr begins or ends to be watched for being executed. When it returns,
// no CPU executes a copy of what is there, if it is.
func Recheck(addr uintptr) {
	mu.Lock()
	defer mu.Unlock()
	unjumpAround(addr)
	neighboured(addr)
	quiesce()
	kick()
}

// SetJumps has every jump taken out, and no other goes in (off), or has the
// optimizer look again (on).
func SetJumps(on bool) {
	machine.This.Forbid("takes jumps in or out")
	mu.Lock()
	defer mu.Unlock()
	if noJumps = !on; noJumps {
		unjump(allSites())
	}
	kick()
}
