package uprobes

import (
	"slices"
	"sort"
	"sync/atomic"

	"sonde/linux/proc"
	"sonde/probe/ledger"
)

// manyCalls is the least limit.
const manyCalls = 64

// mostCalls is how many calls may be noted at the same time, in all programs: each takes the kernel more
// memory than its stack slot takes the program, so recursion without an end would use up the kernel's.
// Calls beyond are missed.
const mostCalls = 1 << 17

// noted is how many lists have taken.
var noted atomic.Int64

// mayNote makes sure that one more call may be noted. Where the calls that are noted leave no room, their
// slots are checked again when as many have been missed.
func (cs *callList) mayNote() bool {
	n := len(cs.stack) + cs.nleft
	if n < cs.room {
		return true
	}
	if cs.grow(max(n/4, 4)) {
		return true
	}
	if cs.missed++; cs.missed > n {
		cs.missed, cs.limit = 0, 0
	}
	return false
}

// grow makes room for more calls, in the stack as well, unless others have taken that.
func (cs *callList) grow(more int) bool {
	if noted.Add(int64(more)) > mostCalls {
		noted.Add(int64(-more))
		return false
	}
	cs.room += more
	cs.stack = slices.Grow(cs.stack, max(cs.room-len(cs.stack), 1))
	return true
}

// room is how many calls, of how many probes each, a thread notes in trap context before it has noted
// as many otherwise.
const (
	roomCalls  = 16
	roomProbes = 2
)

// top returns the last call, or nil.
//
// Context: any.
func (cs *callList) top() *call {
	if n := len(cs.stack); n > 0 {
		return &cs.stack[n-1]
	}
	return nil
}

// pop removes it. It stays valid until the next push.
//
// Context: any.
func (cs *callList) pop() { cs.stack = cs.stack[:len(cs.stack)-1] }

// below reports whether there are calls to leave when the stack is used at sp.
//
// Context: any.
func (cs *callList) below(sp uint64) bool {
	c := cs.top()
	return c != nil && c.slot < sp
}

// leave counts the calls below sp as left.
func (cs *callList) leave(sp uint64) {
	for cs.below(sp) {
		c := new(call)
		i := len(cs.stack) - 1
		*c, cs.stack[i] = cs.stack[i], *c
		cs.stack = cs.stack[:i]
		c.leave()
		cs.putLeft(c)
	}
}

func (cs *callList) putLeft(c *call) {
	if cs.left == nil {
		cs.left = map[uint64]*call{}
	}
	c.same = cs.left[c.slot]
	cs.left[c.slot] = c
	cs.nleft++
}

// last removes the last call if it has that slot, and returns nil if it has another. The
// result is valid until the next push.
func (cs *callList) last(slot uint64) *call {
	c := cs.top()
	if c == nil || c.slot != slot {
		return nil
	}
	cs.pop()
	return c
}

// newest returns the last call with a slot, or nil, and leaves the calls below it.
func (cs *callList) newest(slot uint64) *call {
	cs.leave(slot)
	if c := cs.top(); c != nil && c.slot == slot {
		return c
	}
	return cs.left[slot]
}

// take removes the last call with a slot, and leaves the calls below it. It returns nil if
// there is none. The result is valid until the next push.
func (cs *callList) take(slot uint64) *call {
	cs.leave(slot)
	if c := cs.last(slot); c != nil || cs.left[slot] == nil {
		return c
	}
	c := cs.takeLeft(slot)
	c.undoLeave()
	return c
}

func (cs *callList) takeLeft(slot uint64) *call {
	c := cs.left[slot]
	if c.same != nil {
		cs.left[slot] = c.same
	} else {
		delete(cs.left, slot)
	}
	cs.nleft--
	return c
}

// enter says that a call uses a slot: the calls below it are left. Calls with that slot are
// forgotten, unless it still holds what they have put there.
func (cs *callList) enter(slot uint64, holds bool) {
	cs.leave(slot)
	if holds {
		return
	}
	for i := len(cs.stack) - 1; i >= 0 && cs.stack[i].slot == slot; i-- {
		cs.stack[i].leave()
		cs.stack[i] = call{}
		cs.stack = cs.stack[:i]
	}
	for cs.left[slot] != nil {
		cs.takeLeft(slot)
	}
}

// real returns the return address of the first call with a slot, or tramp if there is none.
func (cs *callList) real(slot, tramp uint64) uint64 {
	ret := tramp
	from := sort.Search(len(cs.stack), func(i int) bool { return cs.stack[i].slot <= slot })
	to := from
	for to < len(cs.stack) && cs.stack[to].slot == slot {
		to++
	}
	for to--; to >= from && ret == tramp; to-- {
		ret = cs.stack[to].ret
	}
	for c := cs.left[slot]; c != nil && ret == tramp; c = c.same {
		ret = c.ret
	}
	return ret
}

// prove forgets the calls that were left, as their slots hold something else,
// once there are many. It does so again when there are twice as many, so the cost of a call
// does not depend on its depth.
func (cs *callList) prove(alive func(*call) bool) {
	if len(cs.stack)+cs.nleft < cs.limit {
		return
	}
	n := 0
	for i := range cs.stack {
		if c := &cs.stack[i]; alive(c) {
			cs.stack[n], cs.stack[i] = cs.stack[i], cs.stack[n]
			n++
		} else {
			c.leave()
			*c = call{}
		}
	}
	cs.stack = cs.stack[:n]
	left := cs.allLeft()
	clear(cs.left)
	cs.nleft = 0
	for _, c := range left {
		if alive(c) {
			cs.putLeft(c)
		}
	}
	cs.limit = max(manyCalls, 2*(n+cs.nleft))
}

// allLeft returns the calls that were left; of those with one slot, the last comes last.
func (cs *callList) allLeft() (all []*call) {
	for _, c := range cs.left {
		from := len(all)
		for ; c != nil; c = c.same {
			all = append(all, c)
		}
		slices.Reverse(all[from:])
	}
	return all
}

// each calls f for all calls.
func (cs *callList) each(f func(*call)) {
	for i := range cs.stack {
		f(&cs.stack[i])
	}
	for _, c := range cs.allLeft() {
		f(c)
	}
}

// giveUp makes the calls return in mem as if they had no probe.
func (cs *callList) giveUp(mem *proc.Memory, tramp uint64) {
	cs.each(func(c *call) {
		if v, err := mem.LoadWord(c.slot); err == nil && v == tramp && c.ret != tramp {
			mem.SwapWord(c.slot, c.ret)
		}
	})
}

// inherit returns the calls for a child of fork: they return to the trampoline there as
// well, but call no handler. Calls that stay return there as they are.
func (cs *callList) inherit() (child callList) {
	for i := range cs.stack {
		if c := &cs.stack[i]; !c.stays {
			child.stack = append(child.stack, call{slot: c.slot, ret: c.ret})
		}
	}
	for _, c := range cs.allLeft() {
		if !c.stays {
			child.putLeft(&call{slot: c.slot, ret: c.ret, left: true})
		}
	}
	return child
}

// leave counts c as left, once.
func (c *call) leave() {
	if c.left {
		return
	}
	c.left = true
	for i := range c.of {
		c.of[i].m.End(ledger.Abandoned)
	}
}

// undoLeave undoes leave.
func (c *call) undoLeave() {
	c.left = false
	for i := range c.of {
		m := c.of[i].m
		m.Flying.Add(1)
		m.Uncount(ledger.Abandoned)
	}
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

// more returns the instance after the last, for which there is room.
func (c *call) more() *instance { return &c.of[:len(c.of)+1][len(c.of)] }

// end forgets what in is an instance of: it may not be reused for a long time.
func (in *instance) end() {
	if in.RP, in.m = nil, nil; cap(in.Data) > keptWords {
		in.Data = nil
	}
}

// leftFor reports whether ip is outside all parts of the function that c is a call of.
func (c *call) leftFor(ip uint64) bool {
	if len(c.of) == 0 {
		return false
	}
	m := c.of[0].m
	return m.exits != nil && !m.exits.Has(ip-m.bias)
}

// release ends hold.
//
// Context: any.
func (th *thread) release() {
	th.held.busy.Store(false)
	keep(&th.held, nil)
}

// returnsTo takes off the calls of a list that are below a slot: a panic has left them. A goroutine's
// stack is used by nothing else.
//
// Context: any.
func (cs *callList) returnsTo(slot uint64) {
	for cs.below(slot) {
		c := cs.top()
		c.leave()
		c.of = c.of[:0]
		cs.pop()
	}
}
