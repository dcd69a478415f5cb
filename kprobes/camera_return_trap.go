//go:build tamago

package kprobes

// Trap context. What a camera records of return probes, of faults and of handlers that are abandoned.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/probe/glass"
	"sonde/probe/handler"
)

// note notes the call for the return probe k, as onBreakpoint does.
func (c *Camera) note(st *state, k *Kprobe, r *amd64.Regs) {
	slot := r.SP
	old := load(slot)
	asKretprobe(k).note(st, int(st.id), r)
	st.begin(&c.KP)
	if asKretprobe(k).EntryHandler != nil {
		c.shoot(r, glass.Returned, k, 0, glass.Entry)
	}
	head, _ := calls(trap.G(r))
	if *head == 0 || asInstance(*head).RP != asKretprobe(k) || uintptr(load(slot)) != trampolinePC {
		c.shoot(r, glass.Unnoted, k, 0, 0)
		return
	}
	c.shoot(r, glass.Replaced, k, slot, old)
	c.follow(head, int(st.id))
}

// follow puts instances of the camera around the innermost call of a list, which a return probe has just
// noted. Without a free instance the film ends here.
func (c *Camera) follow(head *uintptr, id int) {
	in := asInstance(*head)
	if in.next == 0 || asInstance(in.next).RP != &c.ret || asInstance(in.next).off != in.off {
		if below := c.instance(in, id); below != nil {
			below.next, in.next = in.next, uintptr(unsafe.Pointer(below))
		}
	}
	if above := c.instance(in, id); above != nil {
		above.next, *head = *head, uintptr(unsafe.Pointer(above))
		c.noted = true
	}
}

// instance takes an instance for the call that in is of.
func (c *Camera) instance(in *KretprobeInstance, id int) *KretprobeInstance {
	own := c.ret.pool.get(id)
	if own != nil {
		own.RetAddr, own.off, own.Task = in.RetAddr, in.off, in.Task
	}
	return own
}

// filmReturn is the return handler of a camera: it is called before the first and after each of the
// others.
func filmReturn(in *KretprobeInstance, r *amd64.Regs) int {
	c := cameraOf(in.RP)
	switch k := asProbe(c.calling); {
	case !c.back:
		c.back = true
		to := r.IP
		r.IP = uint64(trampolinePC)
		c.shoot(r, glass.Trampoline, nil, 0, 0)
		r.IP = to
	case k.Flags.Has(flagGone):
		c.shoot(r, glass.Abandoned, k, glass.Return, 0)
	default:
		c.shoot(r, glass.Returned, k, 0, glass.Return)
	}
	if next := asInstance(in.next); in.next != 0 && next.off == in.off {
		c.calling = uintptr(unsafe.Pointer(&next.RP.KP))
		stage := glass.Enters
		if next.RP.KP.Flags&flagsReturn != flagRegistered {
			stage = glass.Off
		}
		c.shoot(r, stage, &next.RP.KP, glass.Return, 0)
		return 0
	}
	c.shoot(r, glass.GoesBack, nil, 0, 0)
	c.noted = false
	c.end(trap.ID(r))
	return 0
}

// nested records a hit of pt inside a handler of the recorded hit.
func (c *Camera) nested(id int, pt *point) {
	if f, n := c.Film.Next(); f != nil {
		f.Time, f.CPU, f.Stage, f.Note[0] = cpu.Rdtsc(), int32(id), glass.Nested, uint64(pt.Addr)
		if asProbe(states[id].Probe) != nil {
			f.Probe = asProbe(states[id].Probe).Addr
		}
		c.Film.Written(n)
	}
}

// filmFault records that the instruction has faulted, which ends the film; r looks as if the original had.
func filmFault(id int, r *amd64.Regs) {
	if films[id] == 0 {
		return
	}
	trap.SaveXMM(r)
	c := asCamera(films[id])
	c.noted, c.Witness = false, false
	c.shoot(r, glass.Faulted, nil, states[id].fault, states[id].addr)
	c.end(id)
}

// filmAbandoned records that a handler of k was abandoned in the hit r.
func filmAbandoned(id int, k *Kprobe, r *amd64.Regs) {
	p := films[id]
	switch {
	case p == 0:
	case p == uintptr(unsafe.Pointer(k)): // the camera itself
		films[id] = 0
		asCamera(p).Film.Finish()
	default:
		trap.SaveXMM(r)
		asCamera(p).shoot(r, glass.Abandoned, k, states[id].filmedRole(k), 0)
	}
}

// filmedRole is the role of k's handler in the phase that the hit is in.
func (st *state) filmedRole(k *Kprobe) uint64 {
	switch {
	case st.phase == post:
		return glass.Post
	case k.kind == kindKretprobe:
		return glass.Entry
	}
	return glass.Pre
}

// filmRest continues with the pre-handlers after an abandoned one. It returns true if one of them has
// taken over: the hit is over.
func filmRest(st *state, r *amd64.Regs) bool {
	p := films[st.id]
	if p == 0 || !asCamera(p).rest(st, r) {
		return false
	}
	st.end()
	st.phase = idle
	return true
}

// filmPosts continues with the post-handlers after an abandoned one.
func filmPosts(st *state, r *amd64.Regs) {
	if p := films[st.id]; p != 0 {
		asCamera(p).posts(st, r)
		st.end()
	}
}

// filmEnd ends the film of a hit that was continued because a post-handler was abandoned.
func filmEnd(id int) {
	if p := films[id]; p != 0 {
		asCamera(p).end(id)
	}
}

// shoot adds a frame of r. k is the probe that it is about, nil for none.
func (c *Camera) shoot(r *amd64.Regs, stage glass.Stage, k *Kprobe, a, b uint64) {
	f, n := c.Film.Shoot(r, stage, c.KP.Addr)
	if f == nil {
		return
	}
	f.Note[0], f.Note[1] = a, b
	if k != nil {
		f.Probe, f.Handler = k.Addr, k.filmedCode(stage, a, b)
	}
	if stage == glass.Abandoned {
		handler.Reason(trap.ID(r), &f.Why)
	}
	c.Film.Written(n)
}

// filmedCode returns where the code of k's handler begins that a frame is about.
func (k *Kprobe) filmedCode(stage glass.Stage, a, b uint64) uintptr {
	if stage == glass.Returned {
		a = b
	}
	switch {
	case k.kind == kindJprobe:
		return asJprobe(k).code
	case a == glass.Return:
		return k.code(roleReturn)
	case a == glass.Entry:
		return k.code(roleEntry)
	case a == glass.Post:
		return k.code(rolePost)
	}
	return k.code(rolePre)
}
