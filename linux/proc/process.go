package proc

import (
	"sync/atomic"
	"time"
	"unsafe"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/kernel/poll"
	"sonde/linux/signal"
	"sonde/linux/space"
	"sonde/probe/task"
)

// state is the phase of a process's life.
type state int

const (
	alive  state = iota
	zombie       // ended; its parent has not waited for it
	gone
	unborn // being made; known only to a descriptor of CLONE_PIDFD
)

// Process is what threads share: numbers, memory, files, handlers of signals.
type Process struct {
	PID     int
	table   *Table
	began   time.Time
	mem     atomic.Pointer[Memory] // changed by exec; nil for the kernel, and at the end
	done    chan struct{}          // closed when the process has ended
	res     Resources
	name    atomic.Pointer[string]
	persona atomic.Uint32            // see Persona
	groups  atomic.Pointer[[]uint32] // see Groups
	filter  atomic.Uint32            // CoreFilter, with the bits inverted that are usually set
	task    task.Task                // of the first thread; guarded by Table.mu, but read by anyone

	// guarded by Table.mu:
	path      string // of the program's file
	exe       string // the same, absolute
	layout    space.Layout
	parent    *Process
	children  []*Process
	threads   []*Thread
	group     *Group
	state     state
	execed    bool   // it has called exec since it was made
	adopted   bool   // by the kernel
	subreaper bool   // it adopts what its descendants leave
	policy    Policy // of the first thread, once that has ended
	limits    Limits
	fileLimit atomic.Uint64 // RLIMIT_FSIZE and 1, so that 0 is none; written under table.mu
	usage     Usage         // of threads that have ended
	reaped    Usage         // of children that were waited for

	// Signals; guarded by Table.mu:
	pending    signal.Queue
	readers    poll.Queue // see SignalQueue; not guarded by mu
	actions    *sharedActions
	exitSignal int // what the parent gets at the end
	deathSig   int // what this process gets at the parent's end
	itimers    [3]*ticker
	cpuLimit   *ticker // looks after RLIMIT_CPU; nil while that has not been set
	timers     map[int]*Timer
	nextTimer  int

	// The end; guarded by Table.mu:
	exiting bool // threads must end
	status  Status
	execing *Thread // the thread for which the others must end
	dump    *dump   // the core file that it leaves; nil: none
	fewer   bell    // a thread has ended
	vfork   chan struct{}

	// Stop and continue; guarded by Table.mu:
	stopped  int  // the signal that stopped it, 0 if it is not stopped
	parked   int  // threads that have stopped
	resume   bell // it continues
	stopNews bool // all threads have stopped
	stopTold bool // wait has reported that
	contNews bool // wait has not reported that it was continued
	news     bell // of a child, for wait

	// Engines; changed with Table.mu held:
	engines atomic.Pointer[[]*Engine] // nil: none; the slice is immutable
}

// Resources are what the kernel keeps for a process: open files, the current directory.
// Threads share them.
type Resources interface {
	// Clone returns the resources of a child made with the flags of clone(2).
	Clone(flags uint64) Resources
	// Exec is called when another program begins.
	Exec()
	// Close is called when the process has ended.
	Close()
}

// sharedActions are handlers of signals, which processes can share (CLONE_SIGHAND).
// Guarded by Table.mu.
type sharedActions struct{ signal.Actions }

// Name returns the program's name, at most 15 bytes.
//
// Context: any, so that probe handlers can ask.
func (p *Process) Name() string { return *p.name.Load() }

// SetName changes the name.
func (p *Process) SetName(name string) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	p.setName(name)
}

// setName is SetName with mu held.
func (p *Process) setName(name string) {
	name = shortName(name)
	p.name.Store(&name)
	p.showName()
}

// shortName returns the first 15 bytes of a name, as in Linux.
func shortName(name string) string { return name[:min(len(name), 15)] }

// Path returns the path of the program's file, as it was given.
func (p *Process) Path() string { return lock.Get(&p.table.mu, &p.path) }

// Memory returns the address space, or nil at the end. Unless the caller is a thread of p,
// it may be freed at any time.
func (p *Process) Memory() *Memory { return p.mem.Load() }

// Parent returns the number of the parent.
func (p *Process) Parent() int {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.parent == nil {
		return 0
	}
	return p.parent.PID
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Status returns how the process ended; it is valid when Done is closed.
func (p *Process) Status() Status { return lock.Get(&p.table.mu, &p.status) }

// Resources returns what Start was given, or Clone returned.
func (p *Process) Resources() Resources { return p.res }

// Began returns when the process was made.
func (p *Process) Began() time.Time { return p.began }

// Table returns the table that p is in.
func (p *Process) Table() *Table { return p.table }

// State returns the letter that ps shows: as in Linux, what the first thread does.
func (p *Process) State() string {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.letter()
}

// letter is State with mu held.
func (p *Process) letter() string {
	if p.state != alive {
		return "Z"
	}
	if p == p.table.init {
		return "S" // it has no threads: programs do not see the kernel's
	}
	if p.stopped != 0 {
		return "T"
	}
	if len(p.threads) == 0 || p.threads[0].TID != p.PID {
		return "Z" // the first thread has ended, others continue
	}
	return p.threads[0].letter()
}

// running is how many threads run or want to. mu held.
func (p *Process) running() (n int) {
	if p.state != alive || p.stopped != 0 {
		return 0
	}
	for _, t := range p.threads {
		if t.letter() == "R" {
			n++
		}
	}
	return n
}

// letter is the same for a thread that has not stopped.
func (t *Thread) letter() string {
	switch {
	case !t.sleeping.Load() || !t.asleep():
		return "R"
	case t.deep.Load():
		return "D"
	}
	return "S"
}

// Persona returns what personality(2) has set; children inherit it.
func (p *Process) Persona() uint32 { return p.persona.Load() }

// SetPersona sets it and returns what it was.
func (p *Process) SetPersona(v uint32) (old uint32) { return p.persona.Swap(v) }

// CoreFilter returns which mappings a core file of p has: bits as in space.DumpPrivate. Children inherit it.
func (p *Process) CoreFilter() uint32 { return p.filter.Load() ^ space.DumpUsual }

// SetCoreFilter sets it.
func (p *Process) SetCoreFilter(bits uint32) { p.filter.Store(bits ^ space.DumpUsual) }

// Groups returns the supplementary groups that setgroups(2) has set, in order; children inherit them.
func (p *Process) Groups() []uint32 {
	if all := p.groups.Load(); all != nil {
		return *all
	}
	return nil
}

// SetGroups sets them.
func (p *Process) SetGroups(all []uint32) { p.groups.Store(&all) }

// ActionsID tells apart the handlers of signals of processes that share none.
func (p *Process) ActionsID() uintptr {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return uintptr(unsafe.Pointer(p.actions))
}

// SetDeathSignal says which signal p gets when its parent ends, 0 for none.
func (p *Process) SetDeathSignal(n int) { lock.Set(&p.table.mu, &p.deathSig, n) }

// DeathSignal returns it.
func (p *Process) DeathSignal() int { return lock.Get(&p.table.mu, &p.deathSig) }

// Status is how a process ended or stopped, in the format of wait.
type Status uint32

// Exited returns the status after exit(code).
func Exited(code int) Status { return Status(code&0xff) << 8 }

// Killed returns the status after a signal.
func Killed(sig int) Status { return Status(sig & 0x7f) }

// dumped is set if the process has left a core file.
const dumped Status = 0x80

// Dumped reports whether the process has left a core file.
func (s Status) Dumped() bool { return s.Signal() != 0 && s&dumped != 0 }

// how is CLD_EXITED, CLD_KILLED or CLD_DUMPED.
func (s Status) how() int32 {
	switch {
	case s.Dumped():
		return abi.CLD_DUMPED
	case s.Signal() != 0:
		return abi.CLD_KILLED
	}
	return abi.CLD_EXITED
}

// Code returns the exit code; Signal returns the signal that ended the process, or 0.
func (s Status) Code() int   { return int(s >> 8 & 0xff) }
func (s Status) Signal() int { return int(s & 0x7f) }

func stoppedBy(sig int) Status { return Status(sig)<<8 | 0x7f }

const continuedStatus Status = 0xffff

// Usage is what a thread or process has used.
type Usage struct {
	User, System time.Duration
	Faults       int64 // served page faults
	Sleeps       int64 // times that it blocked
}

func (u *Usage) add(v Usage) {
	u.User += v.User
	u.System += v.System
	u.Faults += v.Faults
	u.Sleeps += v.Sleeps
}

// CPU is the time of the program and of what the kernel did for it.
func (u Usage) CPU() time.Duration { return u.User + u.System }

// Ticks returns the times in the unit of times(2).
func (u Usage) Ticks() (user, system int64) {
	const tick = time.Second / abi.TicksPerSecond
	return int64(u.User / tick), int64(u.System / tick)
}

// Usage returns what p has used, and what those of its children have used that were waited
// for.
func (p *Process) Usage() (self, children Usage) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.used(), p.reaped
}

// used is what all threads have used, those that have ended too. mu held.
func (p *Process) used() Usage {
	u := p.usage
	for _, t := range p.threads {
		u.add(t.Usage())
	}
	return u
}
