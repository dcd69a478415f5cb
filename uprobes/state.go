package uprobes

import (
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64/user"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/probe/ledger"
	"sonde/uprobes/images"
	"sonde/uprobes/machine"
)

// mu guards all registrations; hits do not take it.
var mu sync.Mutex

// texts are the *text of address spaces, by *proc.Memory. Stored with mu held, read without.
var texts sync.Map

// tasks are guarded by mu.
var tasks = map[*proc.Process]*task{}

// textOf returns what is probed in an address space, or nil.
//
// Context: goroutine; with mu held, the answer stays true.
func textOf(mem *proc.Memory) *text {
	x, _ := texts.Load(mem)
	t, _ := x.(*text)
	return t
}

// What Init was given: the processes of this machine, and the machine.
var (
	table *proc.Table
	mach  machine.Machine
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

// Set once, by InTrap; nil: all hits lead to the goroutine.
var (
	careful   func(handler any) bool
	keepWatch = func() {}
)

// text is what is probed in one address space.
type text struct {
	mem    *proc.Memory
	points ledger.Table[point]
	// breaks are the entries of points, for the entry of #BP in threads of process. Stored with mu held.
	breaks  atomic.Pointer[user.Breaks]
	process *proc.Process // the first one with this memory; a child of vfork is another
	// trampoline is the address that functions with return probes return to; 0: there were
	// none.
	trampoline atomic.Uint64
	areas      atomic.Pointer[areas] // replaced, its elements do not change

	// known are all points there ever were, *point by address: their slots are not reused. Stored
	// with mu held.
	known sync.Map
	// pages is replaced with mu held; its elements do not change.
	pages atomic.Pointer[[]slots]
	// changes counts the changes of points: those put in before their breakpoints are, those taken
	// out when they have gone.
	changes atomic.Uint64

	// goroutines have the calls of Go functions that have data or the like. Stored once, with mu held,
	// before there are such points.
	goroutines *goroutines

	// guarded by mu:
	users int // processes
	made  int // points
}

// task is a probed process.
type task struct {
	process *proc.Process
	text    *text
	members []*member
	placed  map[spot]bool                // the members that belong to file probes
	unset   map[*ledger.Counter][]uint64 // where probes could not be set
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

func errEnded(pid int) error {
	return refusal.New(syscall.ESRCH, "there is no process %d, or it has ended", pid)
}

var errCamera = refusal.New(syscall.EBUSY, "a camera is there already")

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

// hadPoints reports whether there has ever been one.
func (x *text) hadPoints() (had bool) {
	x.known.Range(func(any, any) bool { had = true; return false })
	return had
}

// running are the threads that have hit a probe, by goroutine: *thread.
var running sync.Map

// handling returns the thread whose handlers run in this goroutine, or nil.
func handling() *thread {
	if v, ok := running.Load(mach.Goroutine()); ok && v.(*thread).handling {
		return v.(*thread)
	}
	return nil
}
