package uprobes

import (
	"slices"

	"sonde/arch/amd64"
	"sonde/linux/space"
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
	same     *call // among the calls that were left: an older one with this slot
}

// instance is one call of one probe.
type instance struct {
	UretprobeInstance // behind the last of a call, its Data is kept for the next one
	m                 *member
}

// makeRoom makes room for n more instances, each with that much data.
func (c *call) makeRoom(n, words int) {
	c.of = slices.Grow(c.of, n)
	for i := range n {
		if in := &c.of[:len(c.of)+n][len(c.of)+i]; cap(in.Data) < words {
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

// makeWay lets enters note a call: the calls that have been left are forgotten, and there is room. If it returns
// false, there is none.
func (th *thread) makeWay(st *state, r *amd64.Regs) bool {
	cs, tramp := &th.calls, th.text.trampoline.Load()
	if n := len(cs.stack); n > 0 && cs.stack[n-1].slot <= r.SP || cs.nleft > 0 {
		ret, _ := st.LoadWord(r.SP)
		cs.enter(r.SP, ret == tramp)
	}
	if len(cs.stack)+cs.nleft >= manyCalls {
		cs.prove(func(c *call) bool {
			v, ok := st.LoadWord(c.slot)
			return ok && (v == tramp || c.stays && v == c.ret)
		})
	}
	return cs.mayNote()
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
		th.own.ends(c)
		th.begin()
		th.run()
		if c.ret != tramp || r.SP-8 != slot {
			return true
		}
	}
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
