package uprobes

import (
	"slices"
	"sync"
	"sync/atomic"

	"sonde/kernel/grace"
	"sonde/kernel/mm/frame"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/probe/attach"
	"sonde/probe/ledger"
	"sonde/uprobes/stub"
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
	stub      *stub.Stub  // the code that has its handler in it; nil: it was not asked for. Guarded by mu
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

func (m *member) leave() {
	if m.running.Add(-1) == 0 && m.flags.Has(unregistered) {
		m.once.Do(func() { close(m.idle) })
	}
}

// fuser returns what compiles m's handler; nil: nothing does.
func (m *member) fuser() attach.Fuser {
	if m.ret != nil || m.u.Place == nil || m.u.Place.Link.Options.Block || mach.Stub == nil {
		return nil
	}
	return m.u.Place.Link.Options.Fuse
}

// dropStub gives back the memory of m's stub, and of what counts hits there. No CPU is in it.
func (m *member) dropStub() {
	mu.Lock()
	defer mu.Unlock()
	m.giveStub()
	m.EndFused()
}

// giveStub is dropStub with mu held; others may count there.
func (m *member) giveStub() {
	m.stub.Drop()
	m.stub = nil
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
		c.Then = append(c.Then, m.drain, m.dropStub)
	}
	return c
}
