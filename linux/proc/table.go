package proc

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/linux/futex"
	"sonde/linux/space"
	"sonde/sysctl"
)

// pidMax is one more than the largest number of a thread.
//
// Source: Linux, proc_sys_kernel(5), pid_max.
var pidMax = sysctl.NewRange("kernel.pid_max", mostPIDs, 301, mostPIDs, "process and thread IDs are below this number; after the highest, they start again")

const mostPIDs = 1 << 22

// Config is what processes need of the rest of the kernel.
type Config struct {
	Memory  *space.Machine
	NewCPU  func() CPU
	Syscall func(t *Thread) // executes the system call that t's registers describe
	Log     func(line string)
	Clock   func() time.Duration // since some moment; nil: CPU time is not counted
	Threads int                  // how many there may be in all
	// Watched is called with the value of DR6 at a #DB in a program, and reports whether a
	// watchpoint was the only cause. It is called in t's goroutine; nil: there are no
	// watchpoints.
	Watched func(t *Thread, dr6 uint64) (only bool)
}

// Table is a set of processes: on the machine there is one.
type Table struct {
	Config
	futexes *futex.Table[space.Key]
	oom     oom
	init    *Process

	mu sync.Mutex
	// guarded by mu:
	last     int // the number assigned last
	procs    map[int]*Process
	threads  map[int]*Thread
	groups   map[int]*Group
	sessions map[int]*Session
	logged   logLimit
	watchers []*Engine // attached to every process
	forks    uint64
}

// NewTable makes a table with process 1, the kernel, in session and group 1.
func NewTable(c Config) *Table {
	t := &Table{
		Config:   c,
		futexes:  futex.New[space.Key](),
		last:     1,
		procs:    make(map[int]*Process),
		threads:  make(map[int]*Thread),
		groups:   make(map[int]*Group),
		sessions: make(map[int]*Session),
	}
	p := &Process{table: t, PID: 1, actions: new(sharedActions), limits: DefaultLimits(uint64(c.Threads)), began: time.Now()}
	p.task.PID, p.task.TGID = 1, 1
	p.setName("sonde")
	s := &Session{ID: 1, leader: p}
	t.sessions[1] = s
	t.procs[1] = p
	t.join(p, &Group{ID: 1, session: s})
	t.init = p
	return t
}

// Init is process 1.
func (t *Table) Init() *Process { return t.init }

// newID returns a number that no thread, process, group or session has. mu held.
//
// Errors: EAGAIN.
func (t *Table) newID() (int, error) {
	for range mostPIDs {
		t.last++
		if t.last >= int(pidMax.Get()) {
			t.last = 300 // as in Linux: the low numbers are for what starts early
		}
		if id := t.last; t.procs[id] == nil && t.threads[id] == nil && t.groups[id] == nil && t.sessions[id] == nil {
			return id, nil
		}
	}
	return 0, syscall.EAGAIN
}

// admit returns the number of a new thread of p, or of a new child of p. mu held.
//
// Errors: EAGAIN at a limit.
func (t *Table) admit(p *Process) (int, error) {
	if err := t.mayFork(p); err != nil {
		return 0, err
	}
	return t.newID()
}

// mayFork returns an error if a new thread would exceed the limit of p or of the machine.
// mu held.
//
// Errors: EAGAIN.
func (t *Table) mayFork(p *Process) error {
	if n := len(t.threads); uint64(n) >= p.limits[abi.RLIMIT_NPROC].Cur || n >= t.Threads {
		return syscall.EAGAIN
	}
	return nil
}

// Find returns the process with that number, or with a thread of that number. A process
// that has ended is found until it has been waited for.
//
// Errors: ESRCH.
func (t *Table) Find(id int) (*Process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(id)
}

func (t *Table) find(id int) (*Process, error) {
	if p := t.procs[id]; p != nil {
		return p, nil
	}
	if th := t.threads[id]; th != nil {
		return th.process, nil
	}
	return nil, syscall.ESRCH
}

// Processes returns all processes but the kernel, by number.
func (t *Table) Processes() []*Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]*Process, 0, len(t.procs))
	for _, p := range t.procs {
		if p != t.init {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *Process) int { return a.PID - b.PID })
	return all
}

// Counts returns how many processes and threads there are, and how many have ever been
// made. Zombies count.
func (t *Table) Counts() (processes, threads int, forks uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.procs) - 1, len(t.threads), t.forks
}

// Used returns what all programs have used so far, including those that have ended, and how
// many threads run or want to.
func (t *Table) Used() (all Usage, running int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.procs {
		all.add(p.used())
		all.add(p.reaped)
		running += p.running()
	}
	return all, running
}

// LastID returns the number assigned last.
func (t *Table) LastID() int { return lock.Get(&t.mu, &t.last) }
