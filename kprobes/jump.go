package kprobes

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
	"unsafe"

	"sonde/kernel/grace"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/place"
)

// A point can be hit by a jump instead of a breakpoint: kprobes.txt §1.4. Package optprobe
// decides which points may have one, and writes the detours; this file tells it what there
// is to do and puts the jumps in.

// An Optimizer makes detours; package optprobe has one.
type Optimizer interface {
	// Kick says that Candidates may have changed. Called with mu held.
	Kick()
	// Finish returns when everything kicked so far is done.
	Finish()
}

// guarded by mu:
var (
	optimizer Optimizer // set once, at boot
	noJumps   bool      // what SetJumps has said
)

// SetOptimizer sets the optimizer.
//
// Context: boot, goroutine.
func SetOptimizer(o Optimizer) {
	mu.Lock()
	defer mu.Unlock()
	optimizer = o
}

// AwaitJumps waits until the optimizer has nothing left to do, so that a caller that has
// just registered a probe sees its final state.
func AwaitJumps() {
	mu.Lock()
	o := optimizer
	mu.Unlock()
	if o != nil {
		o.Finish()
	}
}

// A Candidate is an armed probe that is hit by a breakpoint and might be hit by a jump.
type Candidate struct {
	Addr   uintptr         // the probed address
	Hits   uint64          // of the probes there
	Check  int             // bytes of the stack check there, including its last branch
	Detour *detour.Detour  // nil if it has none yet
	Begins detour.Template // what a detour for the probes there begins with

	Lone  *Kprobe // the only probe there, if its handler can be compiled; nil: none is
	Count int32   // where at GS hits are counted that run its code

	Leads uintptr // where the place's own code continues after a breakpoint; of Unstubbed

	turn int // of the point, when it was listed
}

// Candidates returns, in order of address, the places that have no post-handler, no jprobe
// and no other probe within their detour. After SetJumps(false) there are none.
func Candidates() (list []Candidate) {
	mu.Lock()
	defer mu.Unlock()
	if noJumps {
		return nil
	}
	for pt := range points.All {
		if pt.armed && (!pt.jumped || pt.form() != pt.wants()) && pt.jumpable() && (pt.detour == nil || !pt.crowded()) {
			c := Candidate{Addr: pt.Addr, Check: int(pt.Check.Len), Detour: pt.detour, Begins: pt.template(), turn: pt.turn}
			for _, k := range pt.probes() {
				c.Hits += k.Hits()
			}
			if k := pt.lone(); k != nil {
				c.Lone, c.Count = k, int32(k.tally().At())
			}
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Candidate) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// Optimized reports whether the probe at addr is hit by a jump.
func Optimized(addr uintptr) bool {
	mu.Lock()
	defer mu.Unlock()
	pt := points.Find(addr)
	return pt != nil && pt.jumped
}

// Original returns the n bytes of code at addr as the image has them, without breakpoints
// and jumps.
func Original(addr, n uintptr) []byte {
	mu.Lock()
	defer mu.Unlock()
	return original(addr, n)
}

// Bind gives c's point a detour. From now on a breakpoint there, too, continues in the
// detour's copy instead of returning from a slot into the region. It reports whether the
// point still exists and had no detour.
func (c *Candidate) Bind(d *detour.Detour) bool {
	mu.Lock()
	defer mu.Unlock()
	pt := points.Find(d.Addr)
	if pt == nil || pt.detour != nil || len(pt.probes()) == 0 {
		return false
	}
	machine.This.Write(d.PointAt, binary.LittleEndian.AppendUint64(nil, uint64(uintptr(unsafe.Pointer(pt)))))
	d.Point, pt.detour = pt, d
	detours++
	pt.resume.Store(d.Resume)
	pt.decide()
	c.Detour, c.turn = d, pt.turn
	return true
}

// ErrRetry is what Jump returns when it changed nothing because a CPU was in the code to be
// replaced.
var ErrRetry = machine.ErrRetry

// Jump replaces the breakpoints of cands with jumps during one stop of the machine; stopped
// is how long that took. Candidates whose point has changed since it was listed or got its
// detour are left out. A grace period must have passed since then, so that no CPU is in a
// region or will return into it.
//
// Errors: ErrRetry, and those of stopping the machine and of writing text; nothing has
// changed then.
// Source: kprobes.txt §1.4.5.
func Jump(cands []Candidate) (done int, stopped time.Duration, err error) {
	mu.Lock()
	defer mu.Unlock()
	var list []*point
	for _, c := range cands {
		pt := points.Find(c.Addr)
		if pt != nil && pt.detour == c.Detour && pt.turn == c.turn && pt.armed && (!pt.jumped || pt.form() != pt.wants()) &&
			pt.jumpable() && place.Way(pt.way.Load()) == place.Detoured {
			list = append(list, pt)
		}
	}
	if noJumps || len(list) == 0 {
		return 0, 0, nil
	}
	if stopped, err = swap(list, (*point).wants); err != nil {
		return 0, stopped, err
	}
	return len(list), stopped, nil
}

// Recheck says that an execute watchpoint at addr begins or ends. If it begins, no CPU executes a copy of the
// instruction there when the change is complete.
func Recheck(addr uintptr) grace.Change {
	mu.Lock()
	defer mu.Unlock()
	unjumpAround(addr)
	neighboured(addr)
	kick()
	return postponed(nil)
}

// SetJumps(false) removes all jumps and prevents new ones; SetJumps(true) lets the
// optimizer look again.
func SetJumps(on bool) {
	machine.This.Forbid("takes jumps in or out")
	mu.Lock()
	defer mu.Unlock()
	if noJumps = !on; noJumps {
		unjump(allPoints())
	}
	kick()
}
