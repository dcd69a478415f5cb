package uprobes

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"sonde/kernel/grace"
	"sonde/kernel/mm/frame"
	"sonde/kernel/printk"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// A member is a registered probe: a copy of its Uprobe's fields, and its state.
type member struct {
	u       *Uprobe
	ret     *Uretprobe // nil: not a return probe
	owner   string     // the module, "" for the kernel
	pid     int
	vaddr   uint64
	process *proc.Process // whose threads it is for
	point   *point
	flags   ledger.Flags
	// trapSafe says that its handler may be called in trap context; careful, that X0-X14 must be saved for it.
	trapSafe, careful bool
	code              [2]uintptr // of its handler, and its entry handler

	running atomic.Int64 // handlers
	idle    chan struct{}
	once    sync.Once

	returning             // for a return probe
	others    []*member   // all members of the same probe: in the first of them
	user      *KprobeUser // the KprobeUser that this is an insertion of: see pre
	page      frame.Frame // that user was inserted into
	file      *file       // the file probe that this belongs to; nil: none
	camera    *Camera     // the camera that this is the probe of
	seam      *seam       // the seam that this is
	*ledger.Counter
}

// returning is what a member of a return probe has to do.
type returning struct {
	wants uint8          // what its hit has to do
	exits *program.Exits // of its function, if they are known; by file addresses, to which bias is added
	bias  uint64
	how   string // for people

	words int   // of data for each call
	most  int64 // calls at the same time; 0: any number
}

// What a hit has to do besides calling handlers and executing the instruction.
const (
	wantsEntry  = 1 << iota // a call begins there, and returns to the trampoline
	wantsStay               // the same, but its exits have points
	wantsExit               // one of these exits
	wantsReturn             // a return instruction of Go
	wantsSkip               // the instruction is skipped
	wantsMore               // the calls have data, an entry handler or a limit
	wantsGo                 // they are a goroutine's, and wantsStay or wantsExit
)

// all returns the members of the same probe, of which m is the first.
func (m *member) all() []*member { return append([]*member{m}, m.others...) }

// begins reports whether calls begin at m.
func (m *member) begins() bool { return m.wants&(wantsEntry|wantsStay) != 0 }

// ends reports whether m ends calls that have begun; such a member is never disabled.
func (m *member) ends() bool { return m.wants&wantsExit != 0 }

// asks returns what a hit of m has to do: nothing if m is disabled, as the breakpoint is another probe's, or m
// was enabled a moment ago.
//
// Context: any.
func (m *member) asks() uint8 {
	if m.flags.Has(disabled) {
		m.passed()
		return 0
	}
	return m.wants
}

// passed counts a hit that finds m disabled, unregistered or abandoned.
//
// Context: any.
func (m *member) passed() {
	m.Count(ledger.Entered)
	m.Count(ledger.Disarmed)
}

const (
	unregistered ledger.Flags = 1 << iota // or its program has ended
	abandoned                             // its handler broke the rules
	disabled                              // by DisableUprobe

	disabledFlags = disabled | abandoned
)

// enter reports whether a handler may run now. leave must follow in any case.
func (m *member) enter() bool {
	m.running.Add(1)
	return !m.flags.Has(unregistered | abandoned)
}

func (m *member) leave() {
	if m.running.Add(-1) == 0 && m.flags.Has(unregistered) {
		m.once.Do(func() { close(m.idle) })
	}
}

// drain returns when no handler of m is running; m is unregistered.
func (m *member) drain() {
	if m.running.Load() > 0 {
		<-m.idle
	}
}

// drain returns when no handler of these is running; they are unregistered.
func drain(all []*member) { leaving(all).Complete() }

// leaving is drain as a change. Handlers in trap context have interrupts off.
func leaving(all []*member) (c grace.Change) {
	if slices.ContainsFunc(all, func(m *member) bool { return m.trapSafe }) {
		c.Each = []func(){func() {}}
	}
	for _, m := range all {
		c.Then = append(c.Then, m.drain)
	}
	return c
}

// refused counts a hit that finds m disabled, unregistered or abandoned.
func (m *member) refused() {
	m.Count(ledger.Disarmed)
	m.leave()
}

// call calls a handler of m, unless m is unregistered, and counts when it ends.
func (m *member) call(th *thread, handler func()) {
	if !m.enter() {
		m.refused()
		return
	}
	th.counts = true
	m.run(th, handler)
}

// tell is call without counting: for a hit that has been counted.
func (m *member) tell(th *thread, handler func()) {
	th.counts = false
	if !m.enter() {
		m.leave()
		return
	}
	m.run(th, handler)
}

// run calls a handler of m. handlers has the same code for all handlers of a hit.
func (m *member) run(th *thread, handler func()) {
	defer func() {
		if th.in != nil {
			th.broke(recover())
		}
	}()
	th.in = m
	th.t.EnterHandler()
	handler()
	th.handled()
}

// handled is called after a handler that has returned.
func (th *thread) handled() {
	if !th.t.LeaveHandler() {
		runtime.Goexit() // broke does the rest
	}
	m := th.in
	th.in = nil
	if th.counts {
		m.Count(ledger.Handled)
	}
	m.leave()
}

// broke is called when a handler has not returned: e is what it panicked with, or nil if it
// ended its goroutine. Or its thread has ended without it; then forget has done the rest.
func (th *thread) broke(e any) {
	if !th.t.LeaveHandler() {
		running.Delete(mach.Goroutine())
		runtime.Goexit()
	}
	m := th.in
	th.in = nil
	m.fail(th, e)
	m.leave()
}

// countAbandoned counts a handler of m that has not returned.
func (m *member) countAbandoned(th *thread) {
	if th.counts || th.entering {
		m.Count(ledger.Abandoned)
	}
	if th.entering {
		m.Flying.Add(-1)
	}
	th.entering = false
}

// fail disables a probe whose handler did not return. The program continues.
func (m *member) fail(th *thread, e any) {
	m.countAbandoned(th)
	m.flags.Set(abandoned)
	handler.Panicked("uprobes", fmt.Sprintf("the probe at %#x of process %d", m.vaddr, m.pid), e)
}

// leaveBehind is called when the thread ends without its goroutine, in which a handler of m
// does not return.
func (m *member) leaveBehind(th *thread) {
	m.countAbandoned(th)
	printk.Err("uprobes: the handler of the probe at %#x of process %d%s does not return: thread %d ends without it", m.vaddr, m.pid, m.from(), th.t.TID)
	m.leave()
	if c := th.leaving; c != nil { // the handlers after it will not be called
		m.Flying.Add(-1)
		c.of = c.of[c.next:]
		c.leave()
	}
}

// from names m's module.
func (m *member) from() string {
	if m.owner == "" {
		return ""
	}
	return " by module " + m.owner
}
