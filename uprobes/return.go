package uprobes

import (
	"sonde/arch/amd64"
	"sonde/kernel/probe"
)

// A call is a call of a function with return probes. Unless it stays, its return address on
// the stack has been replaced by the trampoline's. A function that ends with a jump to
// another probed function has two calls with one stack slot.
type call struct {
	slot  uint64 // on the stack
	ret   uint64 // the original return address
	stays bool   // the return address is unchanged: the exits have points
	left  bool   // counted as a call that will not return
	// trapSafe says that all its handlers may be called in trap context.
	trapSafe bool
	of       []instance
	next     int   // index of the next of these, while their handlers are called
	same     *call // among the calls that were left: an older one with this slot
}

// instance is one call of one probe.
type instance struct {
	UretprobeInstance
	m *member
}

// enterCall says that the functions of those members that are return probes have been
// called.
//
// Context: t's goroutine, IP at the functions' first instruction.
func (th *thread) enterCall(members []*member, stays bool) {
	r, tramp := th.Regs(), th.text.trampoline.Load()
	var ret uint64
	var err error
	if stays {
		ret, err = th.text.mem.LoadWord(r.SP)
	} else {
		ret, err = th.text.mem.SwapWord(r.SP, tramp)
	}
	cs := &th.calls
	if n := len(cs.stack); n > 0 && cs.stack[n-1].slot <= r.SP || cs.nleft > 0 {
		cs.enter(r.SP, ret == tramp)
	}
	if len(cs.stack)+cs.nleft >= manyCalls {
		cs.prove(func(c *call) bool {
			v, err := th.Load(c.slot)
			return err == nil && (v == tramp || c.stays && v == c.ret)
		})
	}
	real := ret
	if ret == tramp && tramp != 0 {
		real = cs.real(r.SP, tramp)
	}
	c := cs.push()
	c.slot, c.ret, c.stays, c.trapSafe = r.SP, ret, stays, true
	for _, m := range members {
		if m.wants&(wantsEntry|wantsStay) == 0 || m.flags.Has(disabled) || m.process != th.t.Process() {
			continue
		}
		m.count(probe.Entered)
		if err != nil { // it has no stack, and will not get far
			m.count(probe.NoInst)
			continue
		}
		m.flying.Add(1)
		c.trapSafe = c.trapSafe && m.trapSafe
		c.of = append(c.of, instance{UretprobeInstance{real, m.ret}, m})
	}
	if err != nil {
		cs.stack = cs.stack[:len(cs.stack)-1]
	}
}

// real returns the original return address for one read from the stack.
func (th *thread) real(ret, slot uint64) uint64 {
	if tramp := th.text.trampoline.Load(); ret == tramp {
		return th.calls.real(slot, tramp)
	}
	return ret
}

// leave counts c as a call that will not return, once.
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

// undoLeave undoes leave.
func (c *call) undoLeave() {
	c.left = false
	for i := range c.of {
		m := c.of[i].m
		m.flying.Add(1)
		m.counts[probe.Abandoned].Add(^uint64(0))
	}
}

// returned handles a return to the trampoline, where IP is. It reports whether the call was
// one of ours.
func (th *thread) returned() bool {
	r, tramp := th.Regs(), th.text.trampoline.Load()
	slot := r.SP - 8
	found := false
	for {
		c := th.calls.last(slot)
		if c == nil {
			if c = th.calls.take(slot); c == nil {
				return found
			}
		}
		found = true
		if r.IP = c.ret; r.IP == tramp {
			r.IP = th.calls.real(slot, tramp)
		}
		th.leaveCall(c, r)
		if c.ret != tramp || r.SP-8 != slot {
			return true
		}
	}
}

// leaveCall calls the handlers of a call that has returned.
func (th *thread) leaveCall(c *call, r *amd64.Regs) {
	th.leaving = c
	th.begin()
	for i := 0; i < len(c.of); {
		i = th.returnHandlers(c, i, r)
	}
	th.finish()
	th.leaving = nil
	c.of = c.of[:0]
}

// returnHandlers calls the handlers from an index on, like handlers.
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
		*in = instance{} // it may not be reused for a long time
	}
	return next
}
