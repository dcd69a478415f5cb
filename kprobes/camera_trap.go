//go:build tamago

package kprobes

// Trap context. What a camera does at a hit: see Camera. All of it runs with X0-X14 saved.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
	"sonde/kprobes/place"
	"sonde/probe/glass"
	"sonde/probe/ledger"
)

// films has, by CPU, the *Camera that records the hit in progress; 0: none does.
var films [trap.MaxCPUs]uintptr

// film is a camera's pre-handler: at the wanted hit it goes through the rest of the list itself.
func film(k *Kprobe, r *amd64.Regs) int {
	c, id := asCamera(k), trap.ID(r)
	if !c.Film.Claim(id, goruntime.Goid(trap.G(r))) {
		return 0
	}
	films[id] = uintptr(unsafe.Pointer(c))
	stage := glass.Trapped
	if r.Vector == amd64.VecDetour {
		stage = glass.Jumped
	}
	c.shoot(r, stage, nil, 0, 0)
	if c.rest(states[id], r) {
		return 1
	}
	return 0
}

// rest calls the remaining probes of the list, and records where execution continues if that is a copy or
// another place: else performs comes, and records it. took: a handler has taken over.
func (c *Camera) rest(st *state, r *amd64.Regs) (took bool) {
	for k := nextProbe(st); k != nil; k = nextProbe(st) {
		if c.call(st, k, r) && r.Vector != amd64.VecDetour {
			c.shoot(r, glass.TookOver, k, 0, 0)
			c.end(int(st.id))
			return true
		}
	}
	st.next -= unsafe.Sizeof(st.next) // it is at the end, and stays there
	pt := asPoint(st.point)
	way, stage := place.Way(pt.way.Load()), glass.ToDetour
	switch {
	case r.Vector == amd64.VecDetour:
		way = place.Detoured
	case way == place.Boosted:
		stage = glass.ToSlot
	case way == place.Branched:
		stage = glass.Branched
	case way != place.Detoured:
		return false
	}
	r.IP = uint64(pt.leads(way)) // as the code of all hits will do once more
	c.shoot(r, stage, nil, 0, 0)
	c.end(int(st.id))
	return false
}

// call calls k's handler as onBreakpoint does, and returns whether that has taken over.
func (c *Camera) call(st *state, k *Kprobe, r *amd64.Regs) (took bool) {
	id := int(st.id)
	role, called := k.filmed()
	if called && k.Flags&flagOff == 0 {
		c.shoot(r, glass.Enters, k, role, 0)
	}
	k.ledger.On(id)[ledger.Entered]++
	switch special := k.Flags & (flagOff | flagSpecial | flagNotes); {
	case special == 0:
		st.begin(k)
		ret := k.PreHandler(k, r)
		st.begin(&c.KP)
		k.ledger.On(id)[ledger.Handled]++
		c.shoot(r, glass.Returned, k, uint64(ret), role)
		if took = ret != 0; took {
			k.tookOver(r)
		}
	case special&flagOff != 0:
		k.ledger.Count(id, ledger.Disarmed)
		c.shoot(r, glass.Off, k, 0, 0)
	case k.kind == kindKretprobe:
		c.note(st, k, r)
	case k.kind == kindJprobe:
		c.mirror(st, asJprobe(k), r)
	default:
		took = k.callSpecial(st, id, r)
		st.begin(&c.KP)
		if called {
			c.shoot(r, glass.Returned, k, word(took), role)
		}
	}
	return took
}

// filmed returns in which role a hit calls k's handler, and whether it has one that call makes frames of.
func (k *Kprobe) filmed() (role uint64, called bool) {
	switch k.kind {
	case kindKretprobe:
		return glass.Entry, asKretprobe(k).EntryHandler != nil
	case kindJprobe:
		return glass.Pre, false // see mirror
	}
	return glass.Pre, k.PreHandler != nil
}

// word is 1 for true.
func word(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// mirror calls the handler of a jprobe.
func (c *Camera) mirror(st *state, j *Jprobe, r *amd64.Regs) {
	id := int(st.id)
	c.shoot(r, glass.Copied, &j.KP, r.SP+8, uint64(j.words))
	st.begin(&j.KP)
	ended := callMirrored(j.code, j.context, r, trap.XMM(r), j.words) // not mirror, which does not say how it ended
	mirrorSP[id] = 0
	st.begin(&c.KP)
	j.KP.ledger.Count(id, ledger.Handled)
	c.shoot(r, glass.Ended, &j.KP, uint64(ended), 0)
}

// performFilmed is performs where there is a camera.
func (pt *point) performFilmed(st *state, way place.Way, r *amd64.Regs) {
	p := films[st.id]
	if p == 0 || p != uintptr(unsafe.Pointer(pt.camera())) {
		pt.performs(st, way, r)
		return
	}
	trap.SaveXMM(r)
	asCamera(p).perform(st, pt, way, r)
}

// perform gets the instruction executed and records how.
func (c *Camera) perform(st *state, pt *point, way place.Way, r *amd64.Regs) {
	c.after = false
	var a, b uint64
	stage := glass.Decided
	switch {
	case way == place.Emulated:
		a, _ = pt.Op.Loads(r, segmentBase(pt.Op.Seg()))
		b, _ = pt.Op.Pushes(r)
		c.shoot(r, glass.Emulates, nil, a, b)
		stage = glass.Emulated
	case way == place.Decided:
		a, b = r.SP-pt.Check.Frame, stackGuard(trap.G(r))
	case way == place.Within:
		a, b = r.SP-pt.Around.Frame, stackGuard(trap.G(r))
	}
	pt.performs(st, way, r)
	switch {
	case films[st.id] != uintptr(unsafe.Pointer(c)): // so has a camera within the same stack check
		c.shoot(r, stage, nil, a, b)
		c.finish()
		return
	case st.phase == stepping:
		st.phase = filming
		c.shoot(r, glass.ToStep, nil, 0, 0)
		return
	case c.after: // the post-handlers have been called already
	case uintptr(r.IP) == pt.Slot && pt.Slot != 0:
		c.shoot(r, glass.ToSlot, nil, 0, 0)
	default:
		c.shoot(r, stage, nil, a, b)
	}
	c.end(int(st.id))
}

// stepFilmed is onStep for a step that is recorded.
func stepFilmed(st *state, r *amd64.Regs) {
	trap.SaveXMM(r)
	c := asCamera(films[st.id])
	c.shoot(r, glass.Stepped, nil, 0, 0)
	c.after = false
	st.phase = stepping
	onStep(r)
	if st.phase == stepping { // a repeated string instruction
		st.phase = filming
		return
	}
	c.end(int(st.id))
}

// filmPost is a camera's post-handler: after the instruction, it calls the other ones.
func filmPost(k *Kprobe, r *amd64.Regs, _ uint64) {
	c, id := asCamera(k), trap.ID(r)
	if films[id] != uintptr(unsafe.Pointer(c)) {
		return
	}
	st := states[id]
	stage := glass.PutBack
	if asPoint(st.point).Slot == 0 {
		stage = glass.Emulated
	}
	c.after = true
	c.shoot(r, stage, nil, 0, 0)
	c.posts(st, r)
}

// posts calls the remaining post-handlers of the list.
func (c *Camera) posts(st *state, r *amd64.Regs) {
	for k := nextProbe(st); k != nil; k = nextProbe(st) {
		if k.PostHandler == nil || k.Flags&flagOff != 0 {
			continue
		}
		c.shoot(r, glass.Enters, k, glass.Post, 0)
		k.callPost(st, r)
		st.begin(&c.KP)
		c.shoot(r, glass.Returned, k, 0, glass.Post)
	}
	st.next -= unsafe.Sizeof(st.next)
}

// end ends the recording of what happens on this CPU: the hit is over, unless its call returns later
// or a witness will see it go on.
func (c *Camera) end(id int) {
	films[id] = 0
	c.finish()
}

func (c *Camera) finish() {
	if !c.noted && !c.Witness {
		c.Film.Finish()
	}
}

// witnessed is the pre-handler of c's witness.
func witnessed(c *Camera, k *Kprobe, r *amd64.Regs) int {
	if c.Witness && films[trap.ID(r)] == 0 && c.Film.Of(goruntime.Goid(trap.G(r))) {
		c.Witness = false
		c.shoot(r, glass.Leaves, k, 0, 0)
		c.end(trap.ID(r))
	}
	return 0
}

// grows records that a hit is not a call yet, if it is the wanted one.
func (c *Camera) grows(r *amd64.Regs) {
	if c.Film.Early(trap.ID(r), goruntime.Goid(trap.G(r))) {
		trap.SaveXMM(r)
		c.shoot(r, glass.Grows, nil, r.SP, stackGuard(trap.G(r)))
	}
}
