package uprobes

import "sonde/arch/amd64"

// pre is the handler of a Uprobe that stands for k at one place: it calls the pre-handler, and lets the thread
// remember the post- and fault-handlers.
func (m *member) pre(th *thread, r *amd64.Regs) {
	k, done := m.user, false
	if k.PostHandler != nil || k.FaultHandler != nil {
		th.after = append(th.after, m)
	}
	defer func() {
		if !done && k.FaultHandler != nil && k.FaultHandler(k, r, -1) == 1 {
			recover()
		}
	}()
	if k.PreHandler(k, r) == 1 {
		th.wants |= wantsSkip
	}
	done = true
}

// executed calls the post-handlers.
func (th *thread) executed() {
	if th.after != nil {
		th.tellAfter()
	}
}

func (th *thread) tellAfter() {
	all := th.after
	th.after = nil
	th.begin()
	for _, m := range all {
		if k := m.user; k.PostHandler != nil {
			m.tell(th, func() { k.PostHandler(k, th.Regs(), 0) })
		}
	}
	th.finish()
}

// faulted calls the fault-handlers for an exception of the instruction, and reports whether
// one of them has handled it.
func (th *thread) faulted(vector int) (done bool) {
	all := th.after
	th.after = nil
	for _, m := range all {
		if k := m.user; k.FaultHandler != nil && !done {
			th.begin()
			m.tell(th, func() { done = k.FaultHandler(k, th.Regs(), vector) == 1 })
			th.finish()
		}
	}
	return done
}
