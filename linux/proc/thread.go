package proc

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/linux/signal"
	"sonde/probe/task"
)

// Thread is a thread of a program.
type Thread struct {
	TID     int // changes at most once: exec makes the thread the first of its process
	process *Process
	cpu     CPU
	regs    *amd64.Regs   // cpu's
	kick    chan struct{} // capacity 1: a token means that work is set
	work    atomic.Bool   // signals and the like must be checked before the program continues
	asked   atomic.Uint64 // signals that trap code has sent to the process, a bit each; takeAsked makes them pending

	sleeping atomic.Bool  // in a call that blocks
	deep     atomic.Bool  // and only a signal that ends it wakes it
	turn     turn         // of its goroutine, for interrupts; of the CPU that this is on
	lent     atomic.Int32 // whether its goroutine is lent: see EnterHandler
	charge   account
	nice     atomic.Int32 // see Nice
	ioprio   atomic.Int32 // see IOPrio
	policy   atomic.Pointer[Policy]
	slack    atomic.Uint64 // see Slack
	robust   atomic.Uint64 // the list of futexes that it holds

	firstSlack uint64 // never changes

	goroutine unsafe.Pointer // a *runtime.g, see asleep; stored once, read by anyone

	// guarded by Table.mu:
	pending signal.Queue
	blocked signal.Set
	waits   signal.Set // signals that it waits for although it blocks them: sigwait
	taken   int        // the signal that engines are being called for
	cpus    uint32     // CPUs that it may run on, a bit each; 0: all
	task    *task.Task // guarded, but read by anyone
	dumped  bool       // the core file has what it was

	// Used by the thread's goroutine only:
	Args     [6]uint64   // of the system call; kept here because a call should not allocate
	info     abi.Siginfo // the signal that it is about to handle
	unmask   *signal.Set // the mask to restore after a signal has been delivered
	altStack abi.Stack
	fpRoom   [abi.XSize + abi.FPMagicSize]byte // where popFP reads to: on the heap it would be garbage each time
	Buffer   [512]byte                         // for what a call moves between memory and a file
	leaves   bool                              // the call that t is in leaves something to afterCall
	call     uint64                            // number of the system call that it is in
	roomBy   *Process                          // the last process that was ended for lack of memory before t tried again
	again    Restart
	deadline time.Time // of the call that is restarted
	clearTID uint64    // where to write 0 at the end
	faulted  uint64    // the address of the last page fault that became a signal
	leaving  bool      // it ends, and not its process
	code     int       // with which it leaves

	// Probes is what package uprobes keeps for t. Context: t's goroutine.
	Probes any
}

// Restart is how a system call continues that a signal interrupted.
type Restart int

// The ways of signal(7), "Interruption of system calls".
const (
	NoRestart    Restart = iota
	RestartSys           // restart if there is no handler or it has SA_RESTART
	RestartQuiet         // restart only if there is no handler
)

// Process returns t's process.
func (t *Thread) Process() *Process { return t.process }

// Memory returns t's address space.
func (t *Thread) Memory() *Memory { return t.process.mem.Load() }

// CPU returns the CPU that t runs on. Context: t's goroutine.
func (t *Thread) CPU() CPU { return t.cpu }

// Regs returns the registers of the program. Context: t's goroutine.
func (t *Thread) Regs() *amd64.Regs { return t.regs }

// Call returns the number of the system call that t is in, or was in last.
// Context: t's goroutine.
func (t *Thread) Call() uint64 { return t.call }

// Affinity returns the CPUs that t may run on, a bit each; 0 means all.
func (t *Thread) Affinity() uint32 { return lock.Get(&t.process.table.mu, &t.cpus) }

// SetAffinity sets them, for all that t's program executes from now on, and for the threads
// and processes that t makes.
func (t *Thread) SetAffinity(cpus uint32) {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	t.cpus = cpus
	t.cpu.Bind(cpus)
	t.cpu.Kick()
}

// newThread makes a thread that runs on cpu.
func newThread(cpu CPU) *Thread {
	t := &Thread{cpu: cpu, regs: cpu.Regs(), kick: make(chan struct{}, 1)}
	t.beginSlack(usualSlack)
	return t
}

// SetClearTID sets the address where 0 is written and a futex woken when t ends.
// Context: t's goroutine.
func (t *Thread) SetClearTID(addr uint64) { t.clearTID = addr }

// SetRobustList sets the address of the list of futexes that t holds.
// Context: t's goroutine.
func (t *Thread) SetRobustList(addr uint64) { t.robust.Store(addr) }

// RobustList returns it.
func (t *Thread) RobustList() uint64 { return t.robust.Load() }

// Cancel returns the channel from which a blocking call receives a token, once, when t has
// something else to do. A blocking call must call it each time.
//
// Context: t's goroutine.
func (t *Thread) Cancel() <-chan struct{} {
	select {
	case <-t.kick: // for something that has been done already
	default:
	}
	if t.Wanted() {
		t.token()
	}
	t.mayBlock()
	t.sleeping.Store(true)
	return t.kick
}

// mayBlock says that the call that t is in may sleep. It is not inlined, so that perf's context switches, which
// are its hits, have a place.
//
//go:noinline
func (t *Thread) mayBlock() {
	t.leaves = true
	t.charge.sleeps.Add(1)
}

// Wanted reports whether a signal is pending for t, or t must end or stop: a long call that
// has done part of its work returns then.
//
// Context: t's goroutine.
func (t *Thread) Wanted() bool { return t.work.Load() && t.wanted() }

// Dying reports whether t must end: a long call gives up then.
//
// Context: t's goroutine.
func (t *Thread) Dying() bool { return t.work.Load() && t.dying() }

// wanted reports whether there is anything to do for t before its program continues.
func (t *Thread) wanted() bool {
	p := t.process
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	t.takeAsked()
	if p.exiting || p.execing != nil && p.execing != t || p.stopped != 0 {
		return true
	}
	_, ok := t.next()
	return ok
}

// next returns the signal that would be delivered to t. mu held.
func (t *Thread) next() (n int, ok bool) {
	held := t.blocked &^ t.waits
	if n, ok = t.pending.Next(held); ok {
		return n, ok
	}
	return t.process.pending.Next(held)
}

func (t *Thread) token() {
	select {
	case t.kick <- struct{}{}:
	default: // there is one already
	}
}

// notify makes t check what it has to do, now or soon. A thread that notifies itself or sleeps is not in
// ring 3, and checks work before it goes there: to kick it would only make it yield. It says that it
// does not sleep any more before it checks.
func (t *Thread) notify() {
	t.work.Store(true)
	t.token()
	if !t.here() && !t.sleeping.Load() {
		t.cpu.Kick()
	}
}

// Interrupted says how a system call that returns EINTR continues, once it is known whether
// a handler runs.
//
// Context: t's goroutine.
func (t *Thread) Interrupted(how Restart) {
	t.again = how
	t.work.Store(true)
}

// Deadline returns the moment at which a call that waits for d ends: counted from now or,
// if the call is restarted after a signal, from when it was first made.
//
// Context: t's goroutine.
func (t *Thread) Deadline(d time.Duration) time.Time {
	if t.deadline.IsZero() {
		t.leaves = true
		t.deadline = time.Now().Add(d)
	}
	return t.deadline
}

// Blocked returns the signals that t blocks.
func (t *Thread) Blocked() signal.Set { return lock.Get(&t.process.table.mu, &t.blocked) }

// SetBlocked sets them. Pending signals that are no longer blocked are delivered before the
// program continues.
func (t *Thread) SetBlocked(s signal.Set) {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	t.block(s)
}

// block is SetBlocked with mu held.
func (t *Thread) block(s signal.Set) {
	took := ^t.blocked
	t.blocked = s &^ signal.Unblockable
	t.leaveToOthers(took & t.blocked)
	if _, ok := t.next(); ok {
		t.work.Store(true)
	}
}

// BlockUntilDelivered is SetBlocked for one system call: sigsuspend, ppoll and the like.
// The old set is restored when a signal has been delivered or the call ends.
//
// Context: t's goroutine.
func (t *Thread) BlockUntilDelivered(s signal.Set) {
	old := t.Blocked()
	if t.unmask == nil { // otherwise the call is restarted
		t.leaves = true
		t.unmask = &old
	}
	t.SetBlocked(s)
	t.work.Store(true)
}

// Pending returns the signals that are pending for t.
func (t *Thread) Pending() signal.Set {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	return (t.pending.Set() | t.process.pending.Set()) & t.blocked
}

// AltStack returns the stack for handlers with SA_ONSTACK, and whether t is on it.
// Context: t's goroutine.
func (t *Thread) AltStack() abi.Stack {
	s := t.altStack
	switch {
	case s.Size == 0:
		s.Flags |= abi.SS_DISABLE
	case t.onAltStack(t.Regs().SP):
		s.Flags |= abi.SS_ONSTACK
	}
	return s
}

// SetAltStack sets it; size 0 means none. Context: t's goroutine.
func (t *Thread) SetAltStack(s abi.Stack) { t.altStack = s }

// onAltStack reports whether sp is on the stack for handlers.
func (t *Thread) onAltStack(sp uint64) bool {
	s := &t.altStack
	return s.Flags&abi.SS_AUTODISARM == 0 && sp > s.SP && sp-s.SP <= s.Size
}

// WaitSignal takes a signal of a set that t blocks, waiting for one until end (zero: for
// ever).
//
// Context: t's goroutine.
// Errors: EAGAIN the time is over, EINTR.
func (t *Thread) WaitSignal(set signal.Set, end time.Time) (info abi.Siginfo, err error) {
	if info, ok := t.beginWait(set); ok {
		return info, nil
	}
	err = t.awaitToken(end)
	p := t.process
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	t.waits = 0
	taken := t.dequeue(^set, &info)
	if t.leaveToOthers(set & t.blocked); taken {
		return info, nil
	}
	return info, err
}

// beginWait takes a pending signal, or begins to wait.
func (t *Thread) beginWait(set signal.Set) (info abi.Siginfo, ok bool) {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	if t.dequeue(^set, &info) {
		return info, true
	}
	t.waits = set
	return info, false
}

// awaitToken sleeps until there is something for t to do.
//
// Errors: EINTR t has something to do; EAGAIN the time is over.
func (t *Thread) awaitToken(end time.Time) error {
	var late <-chan time.Time
	if !end.IsZero() {
		timer := time.NewTimer(time.Until(t.Later(end)))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-t.Cancel():
		return syscall.EINTR
	case <-late:
		return syscall.EAGAIN
	}
}

// ToBeRestarted says how the call continues that t leaves with EINTR.
// Context: t's goroutine.
func (t *Thread) ToBeRestarted() Restart { return t.again }
