package kprobes

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64/insn"
	"sonde/kernel/grace"
	"sonde/kernel/text"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
)

// behind counts the changes in which code was written that some CPUs may not execute yet.
var behind atomic.Int32

// rearm makes the points in list armed exactly if some probe on them wants it. It returns where code was
// written that some CPUs may not execute yet; if there is any, quiesce or postponed must follow. Called with
// mu held.
func rearm(list []*point) (written []uintptr) {
	var out []*point
	for _, pt := range list {
		if pt.jumped && (disarmedAll || !pt.wanted()) {
			out = append(out, pt)
		}
	}
	unjump(out)
	written = make([]uintptr, 0, len(list))
	for _, pt := range list {
		if want := pt.wanted() && !disarmedAll; want != pt.armed {
			pt.arm(want)
		} else if behind.Load() == 0 {
			continue
		}
		written = append(written, pt.Addr)
	}
	return written
}

// arm puts the breakpoint at pt, or takes it away. Called with mu held.
func (pt *point) arm(on bool) {
	old, new := pt.Orig[0], byte(insn.OpInt3)
	if !on {
		old, new = new, old
	}
	if err := machine.This.Poke(pt.Addr, old, new); err != nil {
		panic(err) // something else writes text
	}
	pt.armed = on
}

// rearmNow is rearm with the wait. Called with mu held.
func rearmNow(list []*point) {
	if written := rearm(list); len(written) > 0 {
		quiesce(written)
	}
}

// quiesce returns when every CPU has been outside all handlers and executes the current
// text: no earlier hit still uses what was removed. Called with mu held.
func quiesce(written []uintptr) { postponed(written).Complete() }

// postponed is quiesce as a change. Called with mu held.
func postponed(written []uintptr) (c grace.Change) {
	was := replaced
	replaced, c = nil, machine.This.Outside()
	if len(written) > 0 {
		behind.Add(1)
		c.Written = []func(){func() {
			machine.This.Refresh(written)
			behind.Add(-1)
		}}
	}
	c.Then = append(c.Then, func() { runtime.KeepAlive(was) })
	return c
}

// allPoints returns every point, in no order. Called with mu held.
func allPoints() []*point { return slices.Collect(points.All) }

// unjump puts breakpoints back where there are jumps. Called with mu held.
func unjump(list []*point) {
	list = slices.DeleteFunc(slices.Clone(list), func(pt *point) bool { return !pt.jumped })
	if len(list) == 0 {
		return
	}
	for {
		_, err := swap(list, false)
		if err == nil {
			return
		}
		if !errors.Is(err, machine.ErrRetry) && !errors.Is(err, syscall.ETIMEDOUT) {
			panic(err) // something else writes text
		}
		machine.This.Grace()
	}
}

// unjumpAround puts the breakpoint back where a jump covers addr. Called with mu
// held.
func unjumpAround(addr uintptr) {
	for pt := range covering(addr) {
		if pt.jumped {
			unjump([]*point{pt})
		}
	}
}

// neighboured makes the points whose detours cover addr check again whether they are
// crowded. Called with mu held.
func neighboured(addr uintptr) {
	for pt := range covering(addr) {
		pt.decide()
	}
}

// covering calls yield for each point in front of addr whose detour covers addr.
// Called with mu held.
func covering(addr uintptr) func(yield func(*point) bool) {
	return func(yield func(*point) bool) {
		if detours == 0 {
			return
		}
		for off := uintptr(1); off < detour.MaxLen; off++ {
			if pt := points.Find(addr - off); pt != nil && pt.detour != nil && off < pt.detour.Len && !yield(pt) {
				return
			}
		}
	}
}

// swap exchanges breakpoints and jumps while the machine is stopped once. A CPU that is in
// a point's region, behind its first byte, would execute part of a jump's address. A CPU in
// the point's slot would return into the region as well; but once a point has a detour no hit
// uses the slot, and earlier hits left it a grace period ago. Called with mu held.
func swap(list []*point, in bool) (time.Duration, error) {
	patches := make([]text.Patch, len(list))
	for i, pt := range list {
		trapped, jump := pt.trapped(), pt.jump()
		patches[i] = text.Patch{Addr: pt.Addr, Old: trapped[:], New: jump[:]}
		if !in {
			patches[i].Old, patches[i].New = patches[i].New, patches[i].Old
		}
	}
	took, err := machine.This.Swap(patches, func(ip uintptr) bool {
		for _, pt := range list {
			if ip > pt.Addr && ip < pt.Addr+insn.JumpSize {
				return true
			}
		}
		return false
	})
	if err == nil {
		for _, pt := range list {
			pt.jumped = in
		}
	}
	return took, err
}

// trapped and jump are the five bytes at pt when it is armed, one way or the other.
func (pt *point) trapped() (b [insn.JumpSize]byte) {
	copy(b[:], pt.Orig[:])
	b[0] = insn.OpInt3
	return b
}

func (pt *point) jump() [insn.JumpSize]byte {
	b, _ := insn.Jump(uint64(pt.Addr), uint64(pt.detour.Entry)) // boot lays detours out within reach
	return b
}

// kick tells the optimizer that something has changed. Called with mu held.
func kick() {
	if optimizer != nil {
		optimizer.Kick()
	}
}

// SetEnabled arms or disarms all probes without changing their own state. A handler that
// calls it is abandoned.
//
// Context: goroutine, not a handler.
// Source: kprobes.txt, appendix A, "enabled".
func SetEnabled(on bool) {
	machine.This.Forbid("arms or disarms all probes")
	mu.Lock()
	defer mu.Unlock()
	disarmedAll = !on
	rearmNow(allPoints())
	kick()
}

// Enabled returns what SetEnabled has set; it is true at boot.
func Enabled() bool {
	mu.Lock()
	defer mu.Unlock()
	return !disarmedAll
}
