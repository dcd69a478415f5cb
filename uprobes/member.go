package uprobes

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"sonde/kernel/printk"
	"sonde/kernel/probe"
	"sonde/kernel/proc"
)

// A member is a registered probe: what its Uprobe said then, and what became of it.
type member struct {
	u       *Uprobe
	ret     *Uretprobe // nil: no return probe
	owner   string     // the module, "" for the kernel
	pid     int
	vaddr   uint64
	process *proc.Process // whose threads it is for
	point   *point
	flags   probe.Flags

	running atomic.Int64 // handlers
	idle    chan struct{}
	once    sync.Once

	atReturn bool        // its point is a return instruction
	others   []*member   // of the same probe: of the first of them
	user     *KprobeUser // the probe by inode and offset that this is one of; u is nobody's then
	file     *file       // it is this file probe's; nil: it is one by itself
	*tally
}

// tally counts the hits of a probe.
type tally struct {
	counts [probe.NumEvents]atomic.Uint64
	flying atomic.Int64 // return probe: calls that have not returned
}

const (
	gone     probe.Flags = 1 << iota // unregistered
	disabled                         // its handler panicked
)

func (t *tally) count(e probe.Event) { t.counts[e].Add(1) }

// ledger accounts for all hits.
func (t *tally) ledger() probe.Ledger {
	n := func(e probe.Event) uint64 { return t.counts[e].Load() }
	return probe.Ledger{
		Handled: n(probe.Handled), Disarmed: n(probe.Disarmed), Abandoned: n(probe.Abandoned),
		NoInst: n(probe.NoInst), InFlight: uint64(max(t.flying.Load(), 0)), Entered: n(probe.Entered),
	}
}

// enter reports whether a handler may run now; then leave has to follow.
func (m *member) enter() bool {
	m.running.Add(1)
	if m.flags.Has(gone | disabled) {
		m.leave()
		return false
	}
	return true
}

func (m *member) leave() {
	if m.running.Add(-1) == 0 && m.flags.Has(gone) {
		m.once.Do(func() { close(m.idle) })
	}
}

// drain returns when no handler of m runs; m is gone.
func (m *member) drain() {
	if m.running.Load() > 0 {
		<-m.idle
	}
}

// call calls a handler of m, unless it is gone. What is counted is the handler's end.
func (m *member) call(th *thread, handler func()) {
	if !m.enter() {
		m.count(probe.Disarmed)
		return
	}
	defer m.leave()
	defer m.catch()
	th.owner = m.owner
	handler()
	m.count(probe.Handled)
}

// tell is call without counting: for what belongs to a hit that has been counted.
func (m *member) tell(th *thread, handler func()) {
	if m.enter() {
		defer m.leave()
		defer m.catch()
		th.owner = m.owner
		handler()
	}
}

// catch disables a probe whose handler panics. The program goes on.
func (m *member) catch() {
	e := recover()
	if e == nil {
		return
	}
	m.count(probe.Abandoned)
	m.flags.Set(disabled)
	printk.Err("uprobes: %v in the handler of the probe at %#x of process %d, which is disabled\n%s", fmt.Sprint(e), m.vaddr, m.pid, debug.Stack())
}
