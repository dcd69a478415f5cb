package uprobes

import (
	"slices"

	"sonde/kernel/abi"
	"sonde/kernel/printk"
	"sonde/linux/proc"
)

// clone is called when t has a child, before the child runs. A process with its own memory
// has the pages of slots but no breakpoints (space.Fork). One that shares t's memory, after
// vfork, hits the breakpoints, but no probe is for it. A registration may have found the
// child before this call, and two engines may call it.
func clone(t, child *proc.Thread, flags uint64) {
	if flags&abi.CLONE_THREAD != 0 {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	x, p, mem := textOf(t.Memory()), child.Process(), child.Memory()
	if x == nil {
		return
	}
	tk := tasks[p]
	if tk == nil {
		if mem != x.mem && len(x.slotPages()) == 0 {
			return
		}
		p.Attach(engine)
		tk = enlist(p, mem)
	}
	if th, _ := t.Probes.(*thread); th != nil && th.text == x && child.Probes == nil {
		newThread(child, tk.text).calls = th.bequeath(mem)
	}
	if tk.text != x {
		tk.text.inherit(x)
	}
}

// bequeath returns what a child with that memory, which has not run yet, is to know of th's calls. Where no
// more may be noted, they return in its memory as if they had no probe; in memory that is th's, too, the
// child of vfork returns from the innermost at most.
func (th *thread) bequeath(mem *proc.Memory) callList {
	cs := th.calls.inherit()
	if cs.grow(len(cs.stack) + cs.nleft) {
		return cs
	}
	if mem == th.text.mem {
		return callList{stack: slices.Clone(cs.stack[max(0, len(cs.stack)-manyCalls):])}
	}
	cs.giveUp(mem, th.text.trampoline.Load())
	return callList{}
}

// inherit gives the text of a child of fork its parent's slots, as far as the child has
// them: a page may be newer than the fork. The child returns to its parent's trampoline,
// even if a registration has made another one for it, which is unused so far. mu held.
func (x *text) inherit(parent *text) {
	tramp := parent.trampoline.Load()
	for _, s := range parent.slotPages() {
		if slices.Contains(x.slotPages(), s) || !x.mem.Maps(s.at, s.page) {
			continue
		}
		s.page.Hold()
		x.addPage(s)
		if s.at == tramp {
			x.trampoline.Store(tramp)
		}
	}
}

// forget is called when t ends, or its program does. If it runs in another goroutine than
// t's, t ends in the middle of a handler.
func forget(t *proc.Thread) {
	if th, _ := t.Probes.(*thread); th != nil {
		switch {
		case th.own.Probe != 0:
			asMember(th.own.Probe).leaveBehind(th)
		case t.LeftBehind():
			printk.Err("uprobes: a callback does not return: thread %d ends without it", t.TID)
		}
		filmEnds(t)
		th.calls.forget()
		if th.held != nil {
			th.held.forget()
			th.release()
		}
		t.CPU().Probe(0, 0)
		t.CPU().Breaks(nil)
		t.Probes = nil
		running.Delete(mach.Goroutine())
	}
}

// renew is called when a process runs another program.
func renew(t *proc.Thread) {
	if th, _ := t.Probes.(*thread); th != nil && th.text.mem != t.Memory() {
		forget(t)
	}
	mu.Lock()
	tk := tasks[t.Process()]
	mu.Unlock()
	if tk != nil && tk.text.mem != t.Memory() {
		end(t)
	}
}

// end is called when a process has ended or runs another program.
func end(t *proc.Thread) {
	p := t.Process()
	mu.Lock()
	defer mu.Unlock()
	if tk := tasks[p]; tk != nil {
		tk.quit()
	}
	p.Detach(engine)
}
