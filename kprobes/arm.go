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
	generalize(list)
	written = make([]uintptr, 0, len(list))
	for _, pt := range list {
		left := pt.leaveStub()
		if want := pt.wanted() && !disarmedAll; want != pt.armed {
			pt.arm(want)
		} else if behind.Load() == 0 && !left {
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
	swapUntilDone(slices.DeleteFunc(slices.Clone(list), func(pt *point) bool { return !pt.jumped }), trapped)
}

// swapUntilDone is swap, again and again until no CPU is in the way. Called with mu held.
func swapUntilDone(list []*point, to form) {
	if len(list) == 0 {
		return
	}
	for {
		_, err := swap(list, func(*point) form { return to })
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

// swap exchanges breakpoints and jumps, or jumps and others, while the machine is stopped once. A CPU that is in
// a point's region, after its first byte, would execute part of a jump's address. A CPU in
// the point's slot would return into the region as well; but once a point has a detour no hit
// uses the slot, and earlier hits left it a grace period ago. A CPU in code that has a handler in it would go on in
// that after the caller was told that it does not run any more. Called with mu held.
func swap(list []*point, to func(*point) form) (time.Duration, error) {
	patches, forms := make([]text.Patch, len(list)), make([]form, len(list))
	for i, pt := range list {
		forms[i] = to(pt) // once: a sysctl may change meanwhile
		is, will := pt.bytes(pt.form()), pt.bytes(forms[i])
		patches[i] = text.Patch{Addr: pt.Addr, Old: is[:], New: will[:]}
	}
	took, err := machine.This.Swap(patches, func(ip uintptr) bool {
		return slices.ContainsFunc(list, func(pt *point) bool { return pt.stands(ip) })
	})
	if err == nil {
		for i, pt := range list {
			pt.jumped, pt.fused = forms[i] != trapped, forms[i] == fused
		}
	}
	return took, err
}

// stands reports whether a CPU at ip is in code that is to be replaced, or that must not be entered any more.
func (pt *point) stands(ip uintptr) bool {
	return ip > pt.Addr && ip < pt.Addr+insn.JumpSize || pt.fused && ip >= pt.detour.Fused && ip < pt.detour.Past
}

// bytes are the five bytes at pt when it is armed, in each form.
func (pt *point) bytes(f form) (b [insn.JumpSize]byte) {
	switch f { // boot lays detours out within reach
	case general:
		b, _ = insn.Jump(uint64(pt.Addr), uint64(pt.detour.Entry))
	case fused:
		b, _ = insn.Jump(uint64(pt.Addr), uint64(pt.detour.Fused))
	default:
		copy(b[:], pt.Orig[:])
		b[0] = insn.OpInt3
	}
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
