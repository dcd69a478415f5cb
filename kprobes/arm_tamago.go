//go:build tamago

package kprobes

import (
	"runtime"
	"slices"
	"sync/atomic"

	"sonde/arch/amd64/insn"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/text"
)

// rearm puts INT3s in and takes them out, so that exactly the sites are armed
// whose probes want it. It reports whether there was something to do; then
// every CPU has been outside all handlers since.
func rearm(list []*site) bool {
	var changed []*site
	unjump(slices.DeleteFunc(slices.Clone(list), func(s *site) bool { return s.wanted() && !disarmedAll }))
	for _, s := range list {
		want := s.wanted() && !disarmedAll
		if want == s.armed {
			continue
		}
		old, new := s.orig[0], byte(insn.OpInt3)
		if !want {
			old, new = new, old
		}
		if err := text.Poke(s.addr, old, new); err != nil {
			panic(err) // somebody else writes text
		}
		s.armed = want
		changed = append(changed, s)
	}
	if len(changed) == 0 {
		return false
	}
	if cpu.Num() > 1 {
		text.Sync()
		for _, s := range changed {
			text.Refresh(s.addr)
		}
	}
	outside()
	return true
}

// outside returns when every CPU executes what has been poked and has been
// outside all handlers. A handler that a trap called keeps interrupts off, so
// the interrupt of Sync comes after it; one that was called by a jump is waited
// for. Called with mu held.
func outside() {
	was := replaced
	replaced = nil
	text.Sync()
	for i := range cpu.Num() {
		st := &states[i].state
		for hits := atomic.LoadUint64(&st.soft); st.busy() && atomic.LoadUint64(&st.soft) == hits; {
			runtime.Gosched()
		}
	}
	runtime.KeepAlive(was)
}

// sitesOf returns the sites of ks, each once.
func sitesOf(ks []*Kprobe) (list []*site) {
	round++
	for _, k := range ks {
		if s := k.site; s != nil && s.seen != round {
			s.seen = round
			list = append(list, s)
		}
	}
	return list
}

// round is how often sites have been gathered. guarded by mu
var round uint64

// now is a snapshot for several to share.
func now() *grace.Snapshot {
	s := grace.Now()
	return &s
}

// retire gives the slot of s back, once nobody can be in it.
func retire(s *site, when *grace.Snapshot) {
	if s.slot != 0 {
		freeSlot(s.slot, when)
	}
	if s.detour != nil {
		detours--
		optimizer.Release(s.detour)
	}
}
