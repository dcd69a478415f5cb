package uprobes

import (
	"sonde/linux/proc"
	"sonde/uprobes/images"
	"sonde/uprobes/machine"
)

// Init sets the processes that can be probed, and the machine that they run on.
//
// Context: boot, goroutine.
func Init(t *proc.Table, m machine.Machine) {
	table, mach = t, m
	for id := range states {
		states[id].Program = m.Program
	}
}

// join returns the task of a process, and attaches this package's engine to the process
// first if necessary. mu held.
//
// Errors: ESRCH the process has ended.
func join(p *proc.Process) (*task, error) {
	mem := p.Memory()
	if tk := tasks[p]; tk != nil {
		if tk.text.mem == mem {
			return tk, nil
		}
		tk.quit() // it has called exec; the engine will learn of that later
		p.Detach(engine)
	}
	if mem == nil || !attachEngine(p) {
		return nil, errEnded(p.PID)
	}
	tk := enlist(p, mem)
	if tk.text.users == 1 {
		tk.text.sharers()
	}
	return tk, nil
}

// attachEngine attaches the engine to a process, unless that has ended: then the engine would get
// no events.
func attachEngine(p *proc.Process) bool {
	p.Attach(engine)
	if len(p.Facts().Threads) > 0 {
		return true
	}
	p.Detach(engine)
	return false
}

// sharers makes tasks of all other processes that share the memory of x, after vfork,
// because they hit its breakpoints. mu held.
func (x *text) sharers() {
	for _, p := range table.Processes() {
		if p.Memory() == x.mem && tasks[p] == nil && attachEngine(p) {
			enlist(p, x.mem)
		}
	}
}

// enlist makes a task. mu held.
func enlist(p *proc.Process, mem *proc.Memory) *task {
	x := textOf(mem)
	if x == nil {
		x = &text{mem: mem, process: p}
		texts.Store(mem, x)
	}
	x.users++
	tk := &task{process: p, text: x}
	tasks[p] = tk
	return tk
}

// quit forgets a task whose process has ended or runs another program, and unregisters its
// probes. mu held.
func (tk *task) quit() {
	all := tk.members
	tk.members = nil // each would be looked for among all
	for _, m := range all {
		tk.remove(m)
		m.giveStub() // none of its threads is in ring 3
		if m.file == nil {
			m.EndFused()
		}
	}
	delete(tasks, tk.process)
	if x := tk.text; x.leave() {
		texts.Delete(x.mem)
	}
	if len(tasks) == 0 {
		images.Close()
	}
}

// leave removes one process of x and reports whether it was the last. mu held.
func (x *text) leave() bool {
	if x.users--; x.users > 0 {
		return false
	}
	for _, s := range x.slotPages() {
		s.page.Drop()
	}
	x.pages.Store(nil)
	pointsMade -= x.made
	if x.goroutines != nil {
		x.goroutines.forget()
	}
	return true
}

// unused forgets a task that has never had a point. mu held.
func (tk *task) unused() {
	if len(tk.members) == 0 && len(tk.unset) == 0 && len(tk.text.slotPages()) == 0 && !tk.text.hadPoints() {
		tk.process.Detach(engine)
		tk.quit()
	}
}

// hadPoints reports whether there has ever been one.
func (x *text) hadPoints() (had bool) {
	x.known.Range(func(any, any) bool { had = true; return false })
	return had
}
