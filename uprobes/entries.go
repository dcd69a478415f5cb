package uprobes

import (
	"slices"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/linux/space"
	"sonde/probe/ledger"
)

// Trap context, or the thread's goroutine. How calls with return probes begin. In the trap, they are noted as far
// as that is possible without allocating anything.

// enters notes a call that begins, and makes its instances unless begins has to. If it returns false, it has not
// noted it; in the trap, nothing has changed then.
func enters[W side](th *thread, st *state, pt *point, r *amd64.Regs) bool {
	if blocks[W]() && th.wants&wantsGo != 0 {
		return entersGo[W](th, st, pt, r)
	}
	cs := &th.calls
	if n := len(cs.stack); n >= cs.room || cs.nleft > 0 || n >= manyCalls && n >= cs.limit || n > 0 && cs.stack[n-1].slot <= r.SP {
		if !blocks[W]() || !th.makeWay(st, r) {
			return false
		}
	}
	n := len(cs.stack)
	c := &cs.stack[:n+1][n]
	if !blocks[W]() && cap(c.of) < int(pt.entries.Load()) {
		if th.wants&wantsGo != 0 {
			return entersGo[W](th, st, pt, r)
		}
		if !c.holds(pt) {
			return false
		}
	}
	var ret uint64
	var ok bool
	tramp, stays := th.text.trampoline.Load(), th.wants&wantsEntry == 0
	if stays {
		if ret, ok = st.LoadWord(r.SP); !ok || !blocks[W]() && ret == tramp { // it has been replaced already
			return false
		}
	} else {
		if ret, ok = st.SwapWord(r.SP, tramp); !ok {
			return false
		}
		if !th.code.has(ret) && (ret == tramp || !th.knowsCode(ret)) {
			if !blocks[W]() {
				st.SwapWord(r.SP, ret)
				return false
			}
			if ret != tramp && !th.isCode(ret) {
				st.SwapWord(r.SP, ret)
				stays = true
			}
		}
	}
	c.slot, c.ret, c.stays, c.trapSafe = r.SP, ret, stays, !blocks[W]() || ret != tramp
	if th.wants&wantsMore == 0 {
		enlists[W](th, st, c)
	}
	cs.stack = cs.stack[:n+1]
	return true
}

// entersGo is enters for a Go function.
func entersGo[W side](th *thread, st *state, pt *point, r *amd64.Regs) bool {
	if blocks[W]() {
		th.text.goroutines.meet(r.R14)
	}
	ret, ok := st.LoadWord(r.SP)
	if !ok {
		return false
	}
	slot, ok := th.holdHere(st, r, r.SP)
	if !ok {
		return false
	}
	cs := &th.held.callList
	cs.returnsTo(slot + 1)
	if blocks[W]() && !cs.mayNote() {
		th.release()
		return false
	}
	n := len(cs.stack)
	if n >= cs.room || !blocks[W]() && !cs.stack[:n+1][n].holds(pt) {
		th.release()
		return false
	}
	c := &cs.stack[:n+1][n]
	c.slot, c.ret, c.stays, c.left, c.trapSafe = slot, ret, true, false, true
	cs.stack = cs.stack[:n+1]
	return true
}

// holds reports whether c has room for calls at pt, and for their data.
func (c *call) holds(pt *point) bool {
	n, words := int(pt.entries.Load()&^moreEntries), int(pt.words.Load())
	if n > cap(c.of) {
		return false
	}
	for i := range n {
		if in := &c.of[:n][i]; cap(in.Data) < words {
			return false
		}
	}
	return true
}

// enlists makes the instances of a call, for which there is room. A probe whose calls have more (wantsMore) came
// or went after the hit had read what the probes want: its entry handler has not been asked, so it gets no instance.
func enlists[W side](th *thread, st *state, c *call) {
	p := th.t.Process()
	of := c.of[:0]
	for m, next := memberAt(st.list); m != nil; m, next = memberAt(next) {
		switch {
		case m.wants&(wantsEntry|wantsStay) == 0, m.wants&wantsMore != 0, m.process != p, m.flags.Has(disabled):
			continue
		case len(of) < cap(of):
		case blocks[W]():
			of = slices.Grow(of, 1)
		default:
			continue
		}
		of = of[:len(of)+1]
		in := &of[len(of)-1]
		if in.RetAddr = c.ret; blocks[W]() {
			in.RetAddr, in.RP, in.m, c.of = th.real(c.ret, c.slot), m.ret, m, of
			c.trapSafe = c.trapSafe && m.trapSafe
		} else {
			keep(&in.RP, m.ret)
			keep(&in.m, m)
		}
		m.Begin()
	}
	c.of = c.of[:len(of)]
}

// misses counts a call that is not noted.
func (st *state) misses() {
	th := asThread(st.thread)
	th.wants &^= wantsMore
	for m, next := memberAt(st.list); m != nil; m, next = memberAt(next) {
		if m.begins() && !m.flags.Has(disabled) && m.process == th.t.Process() {
			m.Begin()
			m.End(ledger.NoInst)
		}
	}
}

// begins makes the instances of the call that enters or entersGo has noted, and then gets the instruction
// executed.
func begins[W side](st *state, r *amd64.Regs) (done bool) {
	th, pt := asThread(st.thread), asPoint(st.point)
	c := th.noting().top()
	if blocks[W]() {
		th.begin()
		c.makeRoom(int(pt.entries.Load()&^moreEntries), min(int(pt.words.Load()), keptWords))
	}
	st.doing, st.call, st.next = callsEntries, uintptr(unsafe.Pointer(c)), st.list
	return callEntries[W](st, r)
}

// noting is the list in which a hit notes a call.
func (th *thread) noting() *callList {
	if th.held != nil {
		return &th.held.callList
	}
	return &th.calls
}

// callEntries is begins for the probes that are left.
func callEntries[W side](st *state, r *amd64.Regs) (done bool) {
	th, c := asThread(st.thread), asCall(st.call)
	for m := st.nextMember(); m != nil; m = st.nextMember() {
		if !m.begins() || m.flags.Has(disabled) || m.process != th.t.Process() || !blocks[W]() && len(c.of) == cap(c.of) {
			continue
		}
		if blocks[W]() {
			c.makeRoom(1, m.words)
		}
		in := c.more()
		if n := m.Begin(); cap(in.Data) < m.words || m.beyond(n) { // it has more data than those for which there is room
			m.End(ledger.NoInst)
			continue
		}
		in.RetAddr, in.Data = c.ret, in.Data[:m.words]
		if blocks[W]() {
			in.RetAddr, in.RP, in.m = th.real(c.ret, c.slot), m.ret, m
		} else {
			keep(&in.RP, m.ret)
			keep(&in.m, m)
		}
		for i := len(in.Data) - 1; i >= 0; i-- { // clear would use SSE registers, as would a loop that begins at 0
			in.Data[i] = 0
		}
		if m.ret.EntryHandler == nil || wanted[W](th, st, m, in, r) {
			c.of = c.of[:len(c.of)+1]
			c.trapSafe = c.trapSafe && m.trapSafe
		} else if blocks[W]() {
			in.end()
		}
	}
	if th.wants &^= wantsMore; len(c.of) == 0 {
		th.unenters(st, c)
	}
	if th.held != nil {
		th.release()
	}
	pt := asPoint(st.point)
	r.IP = uint64(pt.addr) // it is where the call begins, whatever they have done
	if blocks[W]() {
		th.finish()
	} else {
		user.FixUp(r) // its IP is valid
	}
	return completes[W](th, st, pt, r)
}

// wanted calls an entry handler, and reports whether the return of its call is wanted.
func wanted[W side](th *thread, st *state, m *member, in *instance, r *amd64.Regs) bool {
	if blocks[W]() && !th.starts(m, unregistered|abandoned) || !blocks[W]() && m.flags.Has(unregistered|abandoned) {
		m.End(ledger.Disarmed)
		return false
	}
	st.begin(m, r)
	wanted := m.ret.EntryHandler(&in.UretprobeInstance, r) == 0
	if blocks[W]() {
		th.handled()
	}
	st.End()
	if !wanted {
		m.End(ledger.Declined)
	}
	if blocks[W]() {
		m.leave()
	}
	return wanted
}

// unenters undoes enters for a call whose return nothing waits for.
func (th *thread) unenters(st *state, c *call) {
	if !c.stays {
		if _, ok := st.SwapWord(c.slot, c.ret); !ok {
			return
		}
	}
	th.noting().pop()
}

// holdHere is hold for the goroutine of r, where its stack pointer is or was sp.
func (th *thread) holdHere(st *state, r *amd64.Regs, sp uint64) (slot uint64, ok bool) {
	lo, hi, ok := st.LoadPair(r.R14)
	if !ok {
		return 0, false
	}
	return th.hold(th.text.goroutines.find(r.R14), sp, lo, hi)
}

// makeWay lets enters note a call: the calls that have been left are forgotten, and there is room. If it returns
// false, there is none.
func (th *thread) makeWay(st *state, r *amd64.Regs) bool {
	cs, tramp := &th.calls, th.text.trampoline.Load()
	if cs.below(r.SP+1) || cs.nleft > 0 {
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

// A function that is entered by a jump or, as _start, by the kernel has no return address on top of its stack,
// but whatever is there: a number, an argument. It stays as it is. What is no address of code is no return
// address; Linux takes the word for one, and such a program reads the trampoline's address, or returns to it.
//
// Rejected: asking whether a call is in front of that address. Signal handlers and coroutines return to where
// there is none.

// has reports whether an address is in it.
//
// Context: any.
func (a *area) has(addr uint64) bool { return addr-a.from < a.size }

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

// knowsCode is isCode for what is known.
//
//go:noinline
func (th *thread) knowsCode(addr uint64) bool {
	all := th.text.areas.Load()
	if all == nil {
		return false
	}
	for i := range all {
		if a := &all[i]; a.has(addr) {
			th.code = *a
			return true
		}
	}
	return false
}
