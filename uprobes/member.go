package uprobes

import (
	"slices"

	"sonde/kernel/grace"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

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

// remove removes m. Its handlers may still be running. mu held.
func (tk *task) remove(m *member) {
	m.flags.Set(unregistered)
	if m.camera != nil {
		m.camera.left(m)
	}
	tk.members = slices.DeleteFunc(tk.members, func(o *member) bool { return o == m })
	delete(tk.placed, spot{m.file, m.vaddr})
	tk.text.unlist(m)
}
