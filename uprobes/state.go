package uprobes

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64/prologue"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
	"sonde/probe/ledger"
	"sonde/uprobes/images"
	"sonde/uprobes/machine"
	"sonde/uprobes/place"
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
func Init(t *proc.Table, m machine.Machine) { table, mach = t, m }

// text is what is probed in one address space.
type text struct {
	mem    *proc.Memory
	points ledger.Table[point]
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

// mostPoints is how many points there may be in all address spaces: they take at most a quarter of the machine's
// memory. A program that maps a file again and again, each time elsewhere, has the file's probes each time.
func mostPoints() int {
	return int(cmp.Or(table.Memory.RAM, 256<<20) / 4 / pointBytes)
}

// pointBytes is about what a point takes, with its probe and its slot.
const pointBytes = 1 << 10

// pointsMade is how many there are. Guarded by mu.
var pointsMade int

// point is a probed instruction.
type point struct {
	addr    uintptr // must be first: see ledger.Table
	plan    *place.Plan
	stepped *place.Plan    // with a slot: another way to execute it, or nil
	slot    uint64         // of its copy, if the plan needs one
	check   prologue.Check // of a Go function that begins here
	members ledger.List[member]
	// trap is the first of members if hits may be handled in trap context, else nil.
	trap atomic.Pointer[*member]
	// Written before trap, and read after it: how many of members begin calls, or did; the most words
	// of data that one of these wants; and what they want, if all of them do that and none is disabled,
	// else 0. entries is moreEntries more if their calls have data or the like.
	entries, words, alone atomic.Uint32
	armed                 bool // its breakpoint is in place; guarded by mu
}

// moreEntries is more than all members of a point.
const moreEntries = 1 << 30

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

// enlist makes a task. mu held.
func enlist(p *proc.Process, mem *proc.Memory) *task {
	x := textOf(mem)
	if x == nil {
		x = &text{mem: mem}
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

// unlist removes m from its point, and from the program a point that has no probes left. mu
// held.
func (x *text) unlist(m *member) {
	pt := m.point
	pt.set(slices.DeleteFunc(pt.registered(), func(o *member) bool { return o == m }))
	x.disarmUnwanted(pt)
	if len(pt.members.All()) == 0 {
		x.forget(pt)
	}
}

// forget lets hits find pt no more; its breakpoint has gone. mu held.
func (x *text) forget(pt *point) {
	x.points.Remove(pt.addr)
	x.changes.Add(1)
}

// hadPoints reports whether there has ever been one.
func (x *text) hadPoints() (had bool) {
	x.known.Range(func(any, any) bool { had = true; return false })
	return had
}

// knew returns the point that is or was at addr, or nil.
func (x *text) knew(addr uint64) *point {
	v, _ := x.known.Load(addr)
	pt, _ := v.(*point)
	return pt
}

// point returns the point at addr, with its breakpoint. mu held.
//
// Errors: EFAULT nothing is mapped there, EACCES, EEXIST, ENOMEM as space.Break; EILSEQ and
// EOPNOTSUPP the instruction cannot be probed.
func (x *text) point(addr uint64) (*point, error) {
	if pt := x.points.Find(uintptr(addr)); pt != nil {
		return pt, x.arm(pt)
	}
	pt, err := x.prepare(addr)
	if err != nil {
		return nil, err
	}
	x.points.Insert(pt)
	x.known.Store(addr, pt)
	x.changes.Add(1)
	if err := x.arm(pt); err != nil {
		x.forget(pt)
		return nil, err
	}
	return pt, nil
}

// prepare makes a point, or reuses the one that was there, with its slot.
func (x *text) prepare(addr uint64) (*point, error) {
	var code [15]byte
	n, err := x.mem.Text(code[:], addr)
	if n == 0 {
		return nil, err
	}
	if code[0] == 0xCC {
		return nil, refusal.New(syscall.EEXIST, "there is a breakpoint at %#x already", addr)
	}
	im, bias := images.At(x.mem.Space, addr)
	if err := im.Begins(addr - bias); err != nil {
		return nil, err
	}
	plan, err := decide(code[:n], addr)
	if err != nil {
		return nil, err
	}
	if old := x.knew(addr); old != nil && old.plan.Code == plan.Code {
		return old, nil
	}
	if most := mostPoints(); pointsMade >= most {
		return nil, refusal.New(syscall.ENOMEM, "programs have %d probed instructions, as many as there is memory for", most)
	}
	pt := &point{addr: uintptr(addr), plan: plan}
	pt.stepped, _ = plan.As(place.Step)
	pt.check = im.CheckAt(addr - bias)
	if plan.Way == place.Boost || plan.Way == place.Step {
		if err := x.giveSlot(pt); err != nil {
			return nil, err
		}
	}
	x.made, pointsMade = x.made+1, pointsMade+1
	return pt, nil
}
