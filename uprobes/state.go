package uprobes

import (
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64/prologue"
	"sonde/kernel/probe"
	"sonde/kernel/proc"
	"sonde/uprobes/place"
)

// mu guards who is registered where: all that is not a hit.
var mu sync.Mutex

// guarded by mu:
var (
	texts = map[*proc.Memory]*text{}
	tasks = map[*proc.Process]*task{}
)

// table is the processes of this machine. Written once, by Init.
var table *proc.Table

// Init says which processes there are to be probed.
//
// Context: boot, goroutine.
func Init(t *proc.Table) { table = t }

// text is what is probed of an address space.
type text struct {
	mem    *proc.Memory
	points probe.Table[point]
	// trampoline is where functions with return probes return to; 0: there were none.
	trampoline atomic.Uint64

	// guarded by mu:
	users int               // processes
	known map[uint64]*point // all there ever were: their slots are not given to others
	pages []slots
}

// point is a probed instruction.
type point struct {
	addr    uintptr // first: see probe.Table
	plan    *place.Plan
	stepped *place.Plan    // with a slot: another way to use it, unless there is none
	slot    uint64         // of its copy, if the plan wants one
	check   prologue.Check // of a Go function that begins there
	members probe.List[member]
	armed   bool // its breakpoint is there; guarded by mu
}

// task is a probed process.
type task struct {
	process *proc.Process
	text    *text
	members []*member
	placed  map[spot]bool // the members that belong to file probes
}

// join returns the task of a process, and makes this package's engine one of its
// engines first if need be. mu held.
//
// Errors: ESRCH the process has ended.
func join(p *proc.Process) (*task, error) {
	mem := p.Memory()
	if tk := tasks[p]; tk != nil {
		if tk.text.mem == mem {
			return tk, nil
		}
		tk.quit() // it has called exec, and will tell of that
		p.Detach(engine)
	}
	if mem == nil || !attach(p) {
		return nil, errEnded(p.PID)
	}
	tk := enlist(p, mem)
	if tk.text.users == 1 {
		tk.text.sharers()
	}
	return tk, nil
}

// attach attaches the engine to a process, unless that has ended: then the engine would
// not be told.
func attach(p *proc.Process) bool {
	p.Attach(engine)
	if len(p.Facts().Threads) > 0 {
		return true
	}
	p.Detach(engine)
	return false
}

// sharers makes tasks of all other processes that have the memory of x, after vfork: they
// meet its breakpoints. mu held.
func (x *text) sharers() {
	for _, p := range table.Processes() {
		if p.Memory() == x.mem && tasks[p] == nil && attach(p) {
			enlist(p, x.mem)
		}
	}
}

func errEnded(pid int) error {
	return probe.Refuse(syscall.ESRCH, "uprobes: there is no process %d, or it has ended", pid)
}

// enlist makes a task. mu held.
func enlist(p *proc.Process, mem *proc.Memory) *task {
	x := texts[mem]
	if x == nil {
		x = &text{mem: mem, known: map[uint64]*point{}}
		texts[mem] = x
	}
	x.users++
	tk := &task{process: p, text: x}
	tasks[p] = tk
	return tk
}

// quit forgets a task whose process has ended or runs another program. Its probes are
// unregistered. mu held.
func (tk *task) quit() {
	for _, m := range slices.Clone(tk.members) {
		tk.remove(m)
	}
	delete(tasks, tk.process)
	if x := tk.text; x.leave() {
		delete(texts, x.mem)
	}
	if len(tasks) == 0 {
		closeImages()
	}
}

// leave takes a user away and reports whether it was the last. mu held.
func (x *text) leave() bool {
	if x.users--; x.users > 0 {
		return false
	}
	for _, s := range x.pages {
		s.page.Drop()
	}
	x.pages = nil
	return true
}

// unused forgets a task that nothing has come of. mu held.
func (tk *task) unused() {
	if len(tk.members) == 0 && len(tk.text.known) == 0 && len(tk.text.pages) == 0 {
		tk.process.Detach(engine)
		tk.quit()
	}
}

// remove takes m out. Handlers of it may still run. mu held.
func (tk *task) remove(m *member) {
	m.flags.Set(gone)
	tk.members = slices.DeleteFunc(tk.members, func(o *member) bool { return o == m })
	delete(tk.placed, spot{m.file, m.vaddr})
	tk.text.unlist(m)
}

// unlist takes m off its point, and a point that is left without probes out of the
// program. mu held.
func (x *text) unlist(m *member) {
	pt := m.point
	pt.members.Remove(m)
	x.settle(pt)
	if len(pt.members.All()) == 0 {
		x.points.Remove(pt.addr)
	}
}

// point returns the point at addr, with its breakpoint. mu held.
//
// Errors: EFAULT nothing is mapped there, EACCES, EEXIST, ENOMEM as space.Break; EILSEQ and
// EOPNOTSUPP for what cannot be probed.
func (x *text) point(addr uint64) (*point, error) {
	if pt := x.points.Find(uintptr(addr)); pt != nil {
		return pt, x.arm(pt)
	}
	pt, err := x.prepare(addr)
	if err != nil {
		return nil, err
	}
	x.points.Insert(pt)
	if err := x.arm(pt); err != nil {
		x.points.Remove(pt.addr)
		return nil, err
	}
	x.known[addr] = pt
	return pt, nil
}

// prepare makes a point, or takes out the one that was there, with its slot.
func (x *text) prepare(addr uint64) (*point, error) {
	var code [15]byte
	n, err := x.mem.Text(code[:], addr)
	if n == 0 {
		return nil, err
	}
	if code[0] == 0xCC {
		return nil, probe.Refuse(syscall.EEXIST, "there is a breakpoint at %#x already", addr)
	}
	im, bias := imageAt(x.mem.Space, addr)
	if err := im.boundary(addr - bias); err != nil {
		return nil, err
	}
	plan, err := decide(code[:n], addr)
	if err != nil {
		return nil, err
	}
	if old := x.known[addr]; old != nil && old.plan.Code == plan.Code {
		return old, nil
	}
	pt := &point{addr: uintptr(addr), plan: plan}
	pt.stepped, _ = plan.As(place.Step)
	pt.check = im.checkAt(addr - bias)
	if plan.Way == place.Boost || plan.Way == place.Step {
		return pt, x.giveSlot(pt)
	}
	return pt, nil
}
