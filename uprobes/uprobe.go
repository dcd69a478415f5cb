package uprobes

import (
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/user"
	"sonde/kernel/mm/backing"
	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/probe/attach"
	"sonde/probe/ledger"
	"sonde/uprobes/machine"
	"sonde/uprobes/place"
	"sonde/uprobes/stub"
)

// Type says which kind of probe a callback is for.
type Type int

// The kinds.
const (
	UPTY_UPROBE Type = iota
	UPTY_URETPROBE
)

// Uprobe is a probe on an instruction of a process; with Path, on one of a file, in all
// processes that map it now or later. The caller sets the exported fields, and must not
// change them while it is registered.
type Uprobe struct {
	Pid   int    // the process; with Path, 0 means all
	Vaddr uint64 // address of the instruction, if Path is empty
	// Path is the file, if any; the instruction is at Offset from the file's beginning or,
	// with Symbol, from the function's.
	Path   string
	Symbol string
	Offset uint64
	Comm   string // with Path: only in processes with this name
	// Disabled says that it begins disabled; afterwards use EnableUprobe and DisableUprobe.
	Disabled bool
	// Handler is called before the instruction is executed, in the thread that hit it, with
	// its registers, which it may change. It may block. A process that is killed waits for
	// its handlers, but only for two seconds; then it abandons the handler with its
	// goroutine. A handler that waits should also wait for Current().Cancel().
	Handler func(u *Uprobe, regs *amd64.Regs)
	// TrapSafe says that the handler, or a return probe's, keeps the rules of trap context
	// (kprobes.txt: it does not block, allocate or lock). Then it is called where the breakpoint
	// arrives, which takes a third of the time, unless another probe at that place may block, or
	// something needs the thread's goroutine. It may use Current, but nothing that blocks. One that
	// breaks the rules is abandoned, and its probe disabled, as with a kprobe.
	TrapSafe bool
	// Place, if not nil, has the link whose handler Handler calls; that handler is then checked and
	// blamed (package uprobes/link). Registering sets its Convention.
	Place *attach.Place
	// RegistrationCallback, if not nil, is called when a registration (reg 1) or
	// unregistration (reg 0) that was requested in a handler has been carried out.
	RegistrationCallback func(u *Uprobe, reg int, typ Type, result error)

	state atomic.Pointer[member] // nil: never registered; changed with mu held
	file  atomic.Pointer[file]   // with Path
	ret   *Uretprobe             // the return probe whose U this is
}

// Uretprobe returns the return probe whose U this is, or nil. It is for callbacks.
func (u *Uprobe) Uretprobe() *Uretprobe { return u.ret }

// Uretprobe is a probe on the returns of a function. The caller sets U.Pid, U.Vaddr (the
// first instruction) and U.RegistrationCallback.
type Uretprobe struct {
	U Uprobe
	// Handler is called when the function has returned, before the caller continues.
	Handler func(ri *UretprobeInstance, regs *amd64.Regs)
	// EntryHandler, if not nil, is called when the function is entered. If it does not return 0,
	// Handler is not called for this call. What it does to IP has no effect.
	EntryHandler func(ri *UretprobeInstance, regs *amd64.Regs) int
	// MaxActive is how many calls may be in progress at the same time, in all processes; those
	// beyond are missed. 0: mostCalls, or with data for each as many as fit into 16 MiB.
	MaxActive int
	DataWords int // words of memory for each call, 0 when it is entered
}

// UretprobeInstance is one call of a function with a return probe. A handler may use it
// only until it returns.
type UretprobeInstance struct {
	RetAddr uint64     // the return address
	RP      *Uretprobe // the probe
	Data    []uint64   // RP.DataWords of them: the entry handler fills them in, the handler reads them
}

// keptWords is the most data of a call that its thread keeps for the next one, so that none need be
// allocated in trap context.
const keptWords = 32

// entry returns rp's Uprobe, or nil for nil.
func (rp *Uretprobe) entry() *Uprobe {
	if rp == nil {
		return nil
	}
	return &rp.U
}

// What this package knows. Below are the types and variables of registrations: of what is asked for, of a probe, of an
// instruction, a file, an address space and a process. thread.go has those of hits. The other files say what happens
// to these, each about one thing.

// An order is a request to register or unregister a probe.
type order struct {
	u     *Uprobe
	rp    *Uretprobe // u is its U
	reg   bool
	owner string // the module that asks for it
	// camera is what u is a part of, if it is one.
	camera *Camera
}

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

// Flags of a member.
const (
	unregistered ledger.Flags = 1 << iota // or its program has ended
	abandoned                             // its handler broke the rules
	disabled                              // by DisableUprobe

	disabledFlags = disabled | abandoned
)

// all returns the members of the same probe, of which m is the first.
func (m *member) all() []*member { return append([]*member{m}, m.others...) }

// begins reports whether calls begin at m.
func (m *member) begins() bool { return m.wants&(wantsEntry|wantsStay) != 0 }

// ends reports whether m ends calls that have begun; such a member is never disabled.
func (m *member) ends() bool { return m.wants&wantsExit != 0 }

// point is a probed instruction.
type point struct {
	addr    uintptr        // must be first: see ledger.Table
	behind  uintptr        // what follows must, too: see user.Break
	code    atomic.Uintptr // a stub's, or where handlers are called
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
	unmade                atomic.Bool // a hit is to make a stub
	armed                 bool        // its breakpoint is in place; guarded by mu
}

// moreEntries is more than all members of a point.
const moreEntries = 1 << 30

// A file probe is on an instruction of a file, given by its offset: it has a member at the
// point in each process that maps the file executable, now or later.
type file struct {
	o       order
	opened  *vfs.File
	ident   backing.Ident
	off     uint64
	counter *ledger.Counter
	returns string // for a return probe: see images.ReturnsOf

	disabled bool // guarded by mu
}

// spot is the place of a file probe in a process.
type spot struct {
	file *file
	addr uint64
}

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

// slotPage is a page of slots. It is a Backing, so a program that drops the page gets the
// same one again, and a child of fork has its parent's, because it may return to the
// trampoline. Slot 0 is reserved for the trampoline. A slot is never reused for another
// instruction: threads may be in it. It implements backing.Store.
type slotPage struct {
	frames *frame.Pool
	frame  frame.Frame
	holds  atomic.Int64

	// guarded by mu:
	next int // the next free slot

	points [slotsPerPage]atomic.Pointer[point] // stored with mu held
}

// slots is a mapped slotPage.
type slots struct {
	page *slotPage
	at   uint64
}

// task is a probed process.
type task struct {
	process *proc.Process
	text    *text
	members []*member
	placed  map[spot]bool                // the members that belong to file probes
	unset   map[*ledger.Counter][]uint64 // where probes could not be set
}

// mu guards all registrations; hits do not take it.
var mu sync.Mutex

// guarded by mu:
var (
	files   []*file
	byInode = map[Inode][]*file{} // the same probes, for each inode by offset, and for each offset in order of registration
)

// tasks are guarded by mu.
var tasks = map[*proc.Process]*task{}

// texts are the *text of address spaces, by *proc.Memory. Stored with mu held, read without.
var texts sync.Map

// textOf returns what is probed in an address space, or nil.
//
// Context: goroutine; with mu held, the answer stays true.
func textOf(mem *proc.Memory) *text {
	x, _ := texts.Load(mem)
	t, _ := x.(*text)
	return t
}

// pointsMade is how many there are. Guarded by mu.
var pointsMade int

// running are the threads that have hit a probe, by goroutine: *thread.
var running sync.Map

// handling returns the thread whose handlers run in this goroutine, or nil.
func handling() *thread {
	if v, ok := running.Load(mach.Goroutine()); ok && v.(*thread).handling {
		return v.(*thread)
	}
	return nil
}

// What Init was given: the processes of this machine, and the machine.
var (
	table *proc.Table
	mach  machine.Machine
)

// Set once, by InTrap; nil: all hits lead to the goroutine.
var (
	careful   func(handler any) bool
	keepWatch = func() {}
)

// engine receives the events of probed processes.
var engine = new(proc.Engine)

// InTheTrap ends the Way of an Info if hits do not lead to their threads' goroutines.
const InTheTrap = " in the trap"

var errTrap = refusal.New(syscall.EDEADLK, "a handler in trap context must not sleep, so it cannot register or unregister user probes")

var errNil = refusal.New(syscall.EINVAL, "there is no probe, the pointer is nil")

var errCamera = refusal.New(syscall.EBUSY, "a camera is there already")

func errEnded(pid int) error {
	return refusal.New(syscall.ESRCH, "there is no process %d, or it has ended", pid)
}
