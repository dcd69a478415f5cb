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
	return false
}

// breakpoint looks for the point that has been hit.
func (th *thread) breakpoint() bool {
	addr := th.Regs().IP - 1
	if pt := th.text.points.Find(uintptr(addr)); pt != nil {
		th.hit(pt)
		return true
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
	th.handling = true
	for _, m := range pt.members.All() {
		if m.process == th.t.Process() {
			m.hit(th, r)
		}
	}
	th.carryOut()
	th.handling = false
	if r.IP == uint64(pt.addr) {
		th.execute(pt)
	}
}

// hit calls the handler of one probe.
func (m *member) hit(th *thread, r *amd64.Regs) {
	m.count(probe.Entered)
	m.call(r, func() { m.u.Handler(m.u, r) })
}
