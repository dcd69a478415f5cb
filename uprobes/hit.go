package uprobes

import (
	"sonde/arch/amd64"
	"sonde/kernel/probe"
	"sonde/kernel/proc"
)

const (
	vecDebug      = amd64.VEC_DB
	vecBreakpoint = amd64.VEC_BP
)

// exception is told of what the program of t has caused, and reports whether that is
// dealt with.
//
// Context: t's goroutine.
func exception(t *proc.Thread, vector int) (done bool) {
	th := of(t)
	switch {
	case th == nil:
		return false
	case vector == vecBreakpoint:
		return th.breakpoint()
	case vector == vecDebug:
		return th.debug()
	}
	th.comeBack()
	return th.after != nil && th.faulted(vector)
}

// breakpoint looks for the point that has been hit.
func (th *thread) breakpoint() bool {
	addr := th.Regs().IP - 1
	if pt := th.text.points.Find(uintptr(addr)); pt != nil {
		th.hit(pt)
		return true
	}
	if addr == th.text.trampoline.Load() {
		return th.returned()
	}
	return th.stray(addr)
}

// stray is a breakpoint without a point. It may have had one until now; then the
// instruction is executed as it is.
func (th *thread) stray(addr uint64) bool {
	x := th.text
	mu.Lock()
	pt := x.points.Find(uintptr(addr))
	was := pt == nil && x.known[addr] != nil && x.mem.Recheck(addr)
	mu.Unlock()
	switch {
	case pt != nil:
		th.hit(pt)
	case was:
		th.Regs().IP = addr
	default:
		return false
	}
	return true
}

// hit does all that belongs to a hit.
func (th *thread) hit(pt *point) {
	r := th.Regs()
	r.IP = uint64(pt.addr)
	again := th.again == state{r.IP, r.SP}
	th.again = state{}
	if again {
		th.execute(pt)
		return
	}
	th.after = nil
	var calls []*member
	th.handle(func() {
		for _, m := range pt.members.All() {
			switch {
			case m.process != th.t.Process():
			case m.user != nil:
				m.hitUser(th, r)
			case m.ret != nil:
				calls = append(calls, m)
			default:
				m.hit(th, r)
			}
		}
	})
	skip := th.skip || r.IP != uint64(pt.addr) // a handler wants it elsewhere
	if th.skip = false; skip {
		th.after = nil
		return
	}
	if calls != nil {
		th.enterCall(calls)
	}
	th.execute(pt)
}

// handle lets handlers run, and then does what they have asked for.
func (th *thread) handle(handlers func()) {
	if !th.listed {
		running.Store(goroutine(), th)
		th.listed = true
	}
	th.handling = true
	handlers()
	th.carryOut()
	th.handling = false
}

// hit calls the handler of one probe.
func (m *member) hit(th *thread, r *amd64.Regs) {
	m.count(probe.Entered)
	m.call(th, func() { m.u.Handler(m.u, r) })
}
