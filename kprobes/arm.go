package kprobes

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"time"

	"sonde/arch/amd64/insn"
	"sonde/kernel/text"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
)

// rearm makes the sites in list armed exactly if some probe on them wants it. It reports
// whether anything changed; if so, every CPU has been outside all handlers since. Called
// with mu held.
func rearm(list []*site) bool {
	var out []*site
	for _, s := range list {
		if s.jumped && (disarmedAll || !s.wanted()) {
			out = append(out, s)
		}
	}
	unjump(out)
	poked := make([]uintptr, 0, len(list))
	for _, s := range list {
		want := s.wanted() && !disarmedAll
		if want == s.armed {
			continue
		}
		old, new := s.Orig[0], byte(insn.OpInt3)
		if !want {
			old, new = new, old
		}
		if err := machine.This.Poke(s.Addr, old, new); err != nil {
			panic(err) // something else writes text
		}
		s.armed = want
		poked = append(poked, s.Addr)
	}
	if len(poked) == 0 {
		return false
	}
	machine.This.Sync(poked)
	quiesce()
	return true
}

// quiesce returns when every CPU has been outside all handlers and executes the current
// text: no earlier hit still uses what was removed. Called with mu held.
func quiesce() {
	was := replaced
	replaced = nil
	machine.This.Quiesce()
	runtime.KeepAlive(was)
}

// allSites returns every site, in no order. Called with mu held.
func allSites() []*site { return slices.Collect(sites.All) }

// unjump puts breakpoints back where there are jumps. Called with mu held.
func unjump(list []*site) {
	list = slices.DeleteFunc(slices.Clone(list), func(s *site) bool { return !s.jumped })
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
	for s := range covering(addr) {
		if s.jumped {
			unjump([]*site{s})
		}
	}
}

// neighboured makes the sites whose detours cover addr check again whether they are
// crowded. Called with mu held.
func neighboured(addr uintptr) {
	for s := range covering(addr) {
		s.decide()
	}
}

// covering calls yield for each site in front of addr whose detour covers addr.
// Called with mu held.
func covering(addr uintptr) func(yield func(*site) bool) {
	return func(yield func(*site) bool) {
		if detours == 0 {
			return
		}
		for off := uintptr(1); off < detour.MaxLen; off++ {
			if s := sites.Find(addr - off); s != nil && s.detour != nil && off < s.detour.Len && !yield(s) {
				return
			}
		}
	}
}

// swap exchanges breakpoints and jumps while the machine is stopped once. A CPU that is in
// a site's region, behind its first byte, would execute part of a jump's address. A CPU in
// the site's slot would return into the region as well; but once a site has a detour no hit
// uses the slot, and earlier hits left it a grace period ago. Called with mu held.
func swap(list []*site, in bool) (time.Duration, error) {
	patches := make([]text.Patch, len(list))
	for i, s := range list {
		trapped, jump := s.trapped(), s.jump()
		patches[i] = text.Patch{Addr: s.Addr, Old: trapped[:], New: jump[:]}
		if !in {
			patches[i].Old, patches[i].New = patches[i].New, patches[i].Old
		}
	}
	took, err := machine.This.Swap(patches, func(ip uintptr) bool {
		for _, s := range list {
			if ip > s.Addr && ip < s.Addr+insn.JumpSize {
				return true
			}
		}
		return false
	})
	if err == nil {
		for _, s := range list {
			s.jumped = in
		}
	}
	return took, err
}

// trapped and jump are the five bytes at s when it is armed, one way or the other.
func (s *site) trapped() (b [insn.JumpSize]byte) {
	copy(b[:], s.Orig[:])
	b[0] = insn.OpInt3
	return b
}

func (s *site) jump() [insn.JumpSize]byte {
	b, _ := insn.Jump(uint64(s.Addr), uint64(s.detour.Entry)) // boot lays detours out within reach
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
	rearm(allSites())
	kick()
}

// Enabled returns what SetEnabled has set; it is true at boot.
func Enabled() bool {
	mu.Lock()
	defer mu.Unlock()
	return !disarmedAll
}
