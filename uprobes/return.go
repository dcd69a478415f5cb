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
// coroutines switch stacks. A call that longjmp has left is forgotten when its slot holds
// something else. It is counted as one that will not return when the stack is used further
// up; if that was another stack, and it does return, it is counted as what it is.
type call struct {
	slot uint64 // on the stack
	ret  uint64 // what it held
	left bool   // counted as one that will not return
	of   []instance
	next int // of these, when their handlers are called
}

// instance is one call of one probe.
type instance struct {
	UretprobeInstance
	m *member
}

const (
	manyCalls  = 64 // when slots are looked at for calls that will not return
	spareCalls = 64 // kept to be used again
)

// enterCall is told that the functions of those of the members that are return probes have
// been called.
//
// Context: t's goroutine, IP at the functions' first instruction.
func (th *thread) enterCall(members []*member) {
	r, tramp := th.Regs(), th.text.trampoline.Load()
	ret, err := th.text.mem.SwapWord(r.SP, tramp)
	if ret != tramp && th.find(r.SP) >= 0 {
		th.drop(func(c *call) bool { return c.slot == r.SP })
	}
	if len(th.calls) > 0 && len(th.calls)%manyCalls == 0 {
		th.drop(func(c *call) bool { v, err := th.Load(c.slot); return err != nil || v != tramp })
	}
	if n := len(th.calls); n > 0 && th.calls[n-1].slot < r.SP {
		th.leave(0, r.SP)
	}
	c := th.newCall()
	c.slot, c.ret, c.left = r.SP, ret, false
	real := th.real(ret, r.SP)
	for _, m := range members {
		if m.ret == nil || m.atReturn || m.process != th.t.Process() {
			continue
		}
		m.count(probe.Entered)
		if err != nil { // it has no stack, and will not come far
			m.count(probe.NoInst)
			continue
		}
		m.flying.Add(1)
		c.of = append(c.of, instance{UretprobeInstance{real, m.ret}, m})
	}
	if err == nil {
		th.calls = append(th.calls, c)
	}
}

// newCall returns a call that is not used. Most hits allocate nothing.
func (th *thread) newCall() *call {
	i := len(th.spare) - 1
	if i < 0 {
		return new(call)
	}
	c := th.spare[i]
	th.spare = th.spare[:i]
	return c
}

// free keeps c to be used again.
func (th *thread) free(c *call) {
	c.of = c.of[:0]
	if len(th.spare) < spareCalls {
		th.spare = append(th.spare, c)
	}
}

// find returns the index of the last call with a slot, -1: there is none.
func (th *thread) find(slot uint64) int {
	for i := len(th.calls) - 1; i >= 0; i-- {
		if th.calls[i].slot == slot {
			return i
		}
	}
	return -1
}

// remove takes the call of an index out, mostly the last.
func (th *thread) remove(i int) {
	if i == len(th.calls)-1 {
		th.calls = th.calls[:i]
		return
	}
	th.calls = slices.Delete(th.calls, i, i+1)
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
	th.calls = slices.DeleteFunc(th.calls, func(c *call) bool {
		if !dead(c) {
			return false
		}
		c.leave()
		return true
	})
}

// leave counts the last calls as such that will not return: those whose slots are below sp,
// and which are not among the first.
func (th *thread) leave(first int, sp uint64) {
	for i := len(th.calls) - 1; i >= first && th.calls[i].slot < sp; i-- {
		th.calls[i].leave()
	}
}

// leave counts c as one that will not return, once.
func (c *call) leave() {
	if c.left {
		return
	}
	c.left = true
	for i := range c.of {
		m := c.of[i].m
		m.flying.Add(-1)
		m.count(probe.Abandoned)
	}
}

// comeBack is the opposite.
func (c *call) comeBack() {
	c.left = false
	for i := range c.of {
		m := c.of[i].m
		m.flying.Add(1)
		m.counts[probe.Abandoned].Add(^uint64(0))
	}
}

// returned is told that a function has returned to the trampoline: IP is there. It
// reports whether that was one of ours.
func (th *thread) returned() bool {
	r, tramp := th.Regs(), th.text.trampoline.Load()
	slot := r.SP - 8
	found := false
	for {
		i := th.find(slot)
		if i < 0 {
			return found
		}
		found = true
		if i < len(th.calls)-1 {
			th.leave(i+1, slot)
		}
		c := th.calls[i]
		th.remove(i)
		if c.left {
			c.comeBack()
		}
		r.IP = th.real(c.ret, slot)
		th.leaveCall(c, r)
		if c.ret != tramp || r.SP-8 != slot {
			return true
		}
	}
}

// leaveCall calls the handlers.
func (th *thread) leaveCall(c *call, r *amd64.Regs) {
	th.leaving = c
	th.begin()
	for i := 0; i < len(c.of); {
		i = th.returnHandlers(c, i, r)
	}
	th.finish()
	th.leaving = nil
	th.free(c)
}

// returnHandlers calls the handlers from that index on, as handlers does.
func (th *thread) returnHandlers(c *call, from int, r *amd64.Regs) (next int) {
	defer func() {
		if th.in != nil {
			th.broke(recover())
		}
	}()
	th.counts = true
	for next = from; next < len(c.of); {
		in := &c.of[next]
		next++
		c.next = next
		m := in.m
		m.flying.Add(-1)
		if m.enter() {
			th.in = m
			th.t.EnterHandler()
			m.ret.Handler(&in.UretprobeInstance, r)
			th.handled()
		} else {
			m.refused()
		}
		*in = instance{} // it may not be used again for long
	}
	return next
}

// inherit returns the calls for a child of fork: they return there, too, but no probe is
// for it.
func (th *thread) inherit() []*call {
	var all []*call
	for _, c := range th.calls {
		all = append(all, &call{slot: c.slot, ret: c.ret})
	}
	return all
}
