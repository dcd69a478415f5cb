package uprobes

import (
	"slices"

	"sonde/arch/amd64"
	"sonde/linux/space"
	"sonde/probe/ledger"
)

// A call is a call of a function with return probes. Unless it stays, its return address on
// the stack has been replaced by the trampoline's. A function that ends with a jump to
// another probed function has two calls with one stack slot.
type call struct {
	slot  uint64 // on the stack
	ret   uint64 // the return address that was there, that of the trampoline for the second call with a slot
	stays bool   // the word in the slot is unchanged: the exits have points, or it is no return address
	left  bool   // it has been left, and counted as abandoned
	// trapSafe says that all its handlers may be called in trap context, and that ret is the original.
	trapSafe bool
	of       []instance
	next     int   // index of the next of these, while their handlers are called
	same     *call // among the calls that were left: an older one with this slot
}

// instance is one call of one probe.
type instance struct {
	UretprobeInstance // behind the last of a call, its Data is kept for the next one
	m                 *member
}

// makeRoom makes room for the instances of members, with as much data as is kept.
func (c *call) makeRoom(members []*member) {
	n, words := 0, 0
	for _, m := range members {
		if m.begins() {
			n, words = n+1, max(words, min(m.words, keptWords))
		}
	}
	c.of = slices.Grow(c.of, n)
	for i := range c.of[:n] {
		if in := &c.of[:n][i]; cap(in.Data) < words {
			in.Data = make([]uint64, words)
		}
	}
}

// more returns the instance behind the last, for which there is room.
func (c *call) more() *instance { return &c.of[:len(c.of)+1][len(c.of)] }

// end forgets what in is an instance of: it may not be reused for a long time.
func (in *instance) end() {
	if in.RP, in.m = nil, nil; cap(in.Data) > keptWords {
		in.Data = nil
	}
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
	} else if ret, err = th.text.mem.SwapWord(r.SP, tramp); err == nil && !th.code.has(ret) && ret != tramp && !th.isCode(ret) {
		th.text.mem.SwapWord(r.SP, ret)
		stays = true
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
	if !cs.mayNote() {
		th.enlist(new(call), members, real, false)
	} else {
		c := cs.push()
		c.slot, c.ret, c.stays, c.trapSafe = r.SP, ret, stays, ret != tramp
		if th.enlist(c, members, real, err == nil); len(c.of) > 0 {
			return
		}
		cs.stack = cs.stack[:len(cs.stack)-1]
	}
	if err == nil && ret != tramp && !stays { // nobody waits for its return
		th.text.mem.SwapWord(r.SP, ret)
	}
}

// enlist makes the instances of a call of the members that want one; if there is no room for calls,
// of none.
func (th *thread) enlist(c *call, members []*member, ret uint64, room bool) {
	if th.wants&wantsMore != 0 {
		c.makeRoom(members)
	}
	for _, m := range members {
		if !m.begins() || m.flags.Has(disabled) || m.process != th.t.Process() {
			continue
		}
		if n := m.Begin(); !room || m.beyond(n) { // without room it has no stack, and will not get far
			m.End(ledger.NoInst)
			continue
		}
		if n := len(c.of); n == cap(c.of) {
			c.of = append(c.of, instance{})[:n]
		}
		in := c.more()
		in.RetAddr, in.RP, in.m = ret, m.ret, m
		in.Data = in.Data[:0] // by itself, it stores no pointer
		if m.wants&wantsMore != 0 && !th.wanted(in) {
			in.end()
			continue
		}
		c.of = c.of[:len(c.of)+1]
		c.trapSafe = c.trapSafe && m.trapSafe
	}
	if th.handling {
		th.finish()
		th.Regs().IP = uint64(members[0].point.addr) // it is where the call begins, whatever they have done
	}
}

// wanted gives a call its data and calls its entry handler, if there is one. It reports whether its
// return is wanted.
func (th *thread) wanted(in *instance) (wanted bool) {
	m := in.m
	if cap(in.Data) < m.words {
		in.Data = make([]uint64, m.words)
	}
	in.Data = in.Data[:m.words]
	clear(in.Data)
	if m.ret.EntryHandler == nil {
		return true
	}
	if !m.enter() {
		m.End(ledger.Disarmed)
		m.leave()
		return false
	}
	th.begin()
	th.counts, th.entering = false, true
	m.run(th, func() { wanted = m.ret.EntryHandler(&in.UretprobeInstance, th.Regs()) == 0 })
	if th.entering && !wanted { // if it has panicked, that is counted
		m.End(ledger.Declined)
	}
	th.entering = false
	return wanted
}

// beyond reports whether n calls at the same time are more than there may be.
func (m *member) beyond(n int64) bool { return m.most != 0 && n > m.most }

// real returns the original return address for one read from the stack.
func (th *thread) real(ret, slot uint64) uint64 {
	if tramp := th.text.trampoline.Load(); ret == tramp {
		return th.calls.real(slot, tramp)
	}
	return ret
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
		th.callReturned(c, r)
		if c.ret != tramp || r.SP-8 != slot {
			return true
		}
	}
}

// callReturned calls the handlers of a call that has returned.
func (th *thread) callReturned(c *call, r *amd64.Regs) {
	th.leaving = c
	th.begin()
	for i := range c.of {
		in := &c.of[i]
		c.next = i + 1
		m := in.m
		m.call(th, func() { in.RP.Handler(&in.UretprobeInstance, r) })
		m.Flying.Add(-1) // behind what call has counted
		in.end()
	}
	th.finish()
	th.leaving = nil
	c.of = c.of[:0]
}

// A function that is entered by a jump or, as _start, by the kernel has no return address on top of its stack,
// but whatever is there: a number, an argument. It stays as it is. What is no address of code is no return
// address; Linux takes the word for one, and such a program reads the trampoline's address, or returns to it.
//
// Rejected: asking whether a call is in front of that address. Signal handlers and coroutines return to where
// there is none.

// area is one of code that calls return to; the zero value has no address.
type area struct{ from, size uint64 }

// has reports whether an address is in it.
//
// Context: any.
func (a *area) has(addr uint64) bool { return addr-a.from < a.size }

// areas are those seen last, the last first. Only the slow path takes the time to ask the address space.
type areas [8]area

// isCode reports whether calls may return to an address.
func (th *thread) isCode(addr uint64) bool {
	if th.knowsCode(addr) {
		return true
	}
	a, ok := th.text.mem.At(addr)
	if !ok || a.Prot&space.Exec == 0 {
		return false
	}
	all := new(areas)
	if old := th.text.areas.Load(); old != nil {
		copy(all[1:], old[:])
	}
	all[0] = area{a.Start, a.End - a.Start}
	th.code = all[0]
	th.text.areas.Store(all)
	return true
}
