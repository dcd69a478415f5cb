package uprobes

import (
	"slices"

	"sonde/arch/amd64"
	"sonde/kernel/probe"
)

// A call is a call of functions with return probes: its return address on the stack has
// been replaced by that of the trampoline. A function that ends with a jump to another
// one, which is probed as well, has two calls with one stack slot.
//
// Calls are found by the slot's address, so it does not matter in what order they return:
// coroutines switch stacks. A call that longjmp has left is noticed when its slot holds
// something else.
type call struct {
	slot uint64 // on the stack
	ret  uint64 // what it held
	of   []*instance
}

// instance is one call of one probe.
type instance struct {
	UretprobeInstance
	m *member
}

// manyCalls is when slots are looked at for calls that will not return.
const manyCalls = 64

// enterCall is told that the functions of these probes have been called.
//
// Context: t's goroutine, IP at the functions' first instruction.
func (th *thread) enterCall(ms []*member) {
	r, tramp := th.Regs(), th.text.trampoline.Load()
	for _, m := range ms {
		m.count(probe.Entered)
	}
	ret, err := th.Load(r.SP)
	if ret != tramp {
		th.drop(func(c *call) bool { return c.slot == r.SP })
	}
	if len(th.calls) > 0 && len(th.calls)%manyCalls == 0 {
		th.drop(func(c *call) bool { v, err := th.Load(c.slot); return err != nil || v != tramp })
	}
	if err == nil {
		err = th.Store(r.SP, tramp)
	}
	if err != nil { // it has no stack, and will not come far
		for _, m := range ms {
			m.count(probe.NoInst)
		}
		return
	}
	c := call{slot: r.SP, ret: ret}
	for _, m := range ms {
		m.flying.Add(1)
		c.of = append(c.of, &instance{UretprobeInstance{th.real(ret, r.SP), m.ret}, m})
	}
	th.calls = append(th.calls, c)
}

// real returns the address that a return address stands for.
func (th *thread) real(ret, slot uint64) uint64 {
	for i := len(th.calls) - 1; i >= 0 && ret == th.text.trampoline.Load(); i-- {
		if th.calls[i].slot == slot {
			ret = th.calls[i].ret
		}
	}
	return ret
}

// drop forgets calls that will not return.
func (th *thread) drop(dead func(c *call) bool) {
	th.calls = slices.DeleteFunc(th.calls, func(c call) bool {
		if !dead(&c) {
			return false
		}
		for _, in := range c.of {
			in.m.flying.Add(-1)
			in.m.count(probe.Abandoned)
		}
		return true
	})
}

// returned is told that a function has returned to the trampoline: IP is there. It
// reports whether that was one of ours.
func (th *thread) returned() bool {
	r, tramp := th.Regs(), th.text.trampoline.Load()
	slot := r.SP - 8
	found := false
	for {
		i := len(th.calls) - 1
		for i >= 0 && th.calls[i].slot != slot {
			i--
		}
		if i < 0 {
			return found
		}
		found = true
		c := th.calls[i]
		th.calls = slices.Delete(th.calls, i, i+1)
		r.IP = th.real(c.ret, slot)
		th.leaveCall(c, r)
		if c.ret != tramp || r.SP-8 != slot {
			return true
		}
	}
}

// leaveCall calls the handlers.
func (th *thread) leaveCall(c call, r *amd64.Regs) {
	th.handle(func() {
		for _, in := range c.of {
			in.m.flying.Add(-1)
			in.m.call(th, func() { in.m.ret.Handler(&in.UretprobeInstance, r) })
		}
	})
}

// inherit returns the calls for a child of fork: they return there, too, but no probe is
// for it.
func (th *thread) inherit() []call {
	all := slices.Clone(th.calls)
	for i := range all {
		all[i].of = nil
	}
	return all
}
