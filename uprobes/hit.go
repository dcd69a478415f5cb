package uprobes

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
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
	decided, grows := th.decide(pt)
	if grows {
		return // the function begins again with more stack: that is the hit
	}
	var calls, rets []*member
	th.handle(func() {
		for _, m := range pt.members.All() {
			switch {
			case m.process != th.t.Process():
			case m.flags.Has(disabled): // another probe wants the breakpoint, or did until now
				m.count(probe.Entered)
				m.count(probe.Disarmed)
			case m.user != nil:
				m.hitUser(th, r)
			case m.atReturn:
				rets = append(rets, m)
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
	if decided {
		pt.check.Perform(r, r.IP, false)
		th.executed()
		return
	}
	th.execute(pt)
	if rets != nil && r.IP != uint64(pt.addr) {
		th.handle(func() {
			for _, m := range rets {
				m.hitReturn(th, r)
			}
		})
	}
}

// stackGuard is where in a g of Go's the stack check looks.
const stackGuard = 16

// decide makes the stack check that a Go function begins with, and performs it if the
// stack grows: otherwise its entry would be hit twice. It is not decided where there is
// none, or where another point is in it.
//
// Source: Go 1.26 cmd/internal/obj/x86, stacksplit.
func (th *thread) decide(pt *point) (decided, grows bool) {
	if pt.check.Kind == prologue.None {
		return false, false
	}
	for i := uintptr(1); i < uintptr(pt.check.Len); i++ {
		if th.text.points.Find(pt.addr+i) != nil {
			return false, false
		}
	}
	r := th.Regs()
	guard, err := th.Load(r.R14 + stackGuard)
	if err != nil {
		return false, false
	}
	if grows = pt.check.Grows(r, guard); grows {
		pt.check.Perform(r, r.IP, true)
	}
	return true, grows
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
