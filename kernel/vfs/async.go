package vfs

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/poll"
)

// Signals of open files: with O_ASYNC, the owner of a file gets a signal whenever the file may have
// become ready.

// An Owner gets signals about an open file: it is a process, a process group or a thread.
type Owner interface {
	// Tell sends a signal that says what is possible with the file, whose descriptor is fd; 0 means
	// SIGIO. Context: goroutine; FS.mu may be held.
	Tell(fd, signal int, ev poll.Events)
}

// notice is the owner of an open file and how to tell it.
type notice struct {
	mu sync.Mutex
	// guarded by mu:
	owner   Owner
	signal  int
	waiter  *asyncWaiter // nil without O_ASYNC
	entries *entries     // see NotifyEntries
}

// noticeOf returns f's notice, and makes it if there is none.
func (f *File) noticeOf() *notice {
	if n := f.notice.Load(); n != nil {
		return n
	}
	f.notice.CompareAndSwap(nil, new(notice))
	return f.notice.Load()
}

// Owner returns the owner that gets signals about f, nil if there is none, and the signal.
func (f *File) Owner() (Owner, int) {
	n := f.notice.Load()
	if n == nil {
		return nil, 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.owner, n.signal
}

// SetOwner sets the owner that gets signals about f; nil: none.
func (f *File) SetOwner(o Owner) {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owner = o
}

// ownIfNobody is SetOwner if f has no owner.
func (f *File) ownIfNobody(o Owner) {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.owner == nil {
		n.owner = o
	}
}

// SetSignal sets the signal that the owner gets; 0 is SIGIO without further data.
func (f *File) SetSignal(signal int) {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.signal = signal
}

// tell tells the owner, if there is one.
func (f *File) tell(fd int, ev poll.Events) {
	if o, signal := f.Owner(); o != nil {
		o.Tell(fd, signal, ev)
	}
}

// SetAsync sets or clears O_ASYNC. fd is the descriptor that the owner is told.
//
// Errors: ENOTTY unless f is a pipe, a socket or a terminal: other files are always ready.
func (f *File) SetAsync(on bool, fd int) error {
	switch f.node.Stat().Mode.Type() {
	case fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice | fs.ModeCharDevice:
	default:
		return syscall.ENOTTY
	}
	if _, ok := f.handle.(poll.Source); !ok {
		return syscall.ENOTTY
	}
	f.listen(on, fd)
	return nil
}

// listen is SetAsync for a file that can become ready.
func (f *File) listen(on bool, fd int) {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.waiter != nil:
		n.waiter.fd.Store(int32(fd))
		if !on {
			n.waiter.queue.Remove(&n.waiter.Waiter)
			n.waiter = nil
			f.flag.And(^int32(O_ASYNC))
		}
	case on && !f.Closed():
		n.waiter = newAsyncWaiter(f, fd)
		f.flag.Or(O_ASYNC)
	}
}

// asyncWaiter waits for a file with O_ASYNC.
type asyncWaiter struct {
	poll.Waiter
	file  *File
	queue *poll.Queue
	fd    atomic.Int32
}

func newAsyncWaiter(f *File, fd int) *asyncWaiter {
	w := &asyncWaiter{file: f, queue: f.Queue()}
	w.fd.Store(int32(fd))
	w.Mask = w.wanted()
	w.Wake = w.wake
	w.queue.Add(&w.Waiter)
	return w
}

// wanted is the events that may become possible with the file.
func (w *asyncWaiter) wanted() poll.Events {
	const reading, writing = poll.In | poll.Pri | poll.RdHup, poll.Out
	switch w.file.Flags() & accessMask {
	case O_RDONLY:
		return reading
	case O_WRONLY:
		return writing
	}
	return reading | writing
}

// woken are the wakeups that owners have not been told of. Whoever makes a file ready may hold locks that sending a
// signal takes.
var woken struct {
	n       atomic.Int32
	telling sync.Mutex // held while owners are told

	mu  sync.Mutex
	all []*asyncWaiter // guarded by mu
}

// wake lets the system call that makes the file ready tell its owner when it ends (TellOwners), and a goroutine, in case
// that it blocks, or that it is no system call.
func (w *asyncWaiter) wake() {
	woken.mu.Lock()
	defer woken.mu.Unlock()
	woken.n.Add(1)
	if woken.all = append(woken.all, w); len(woken.all) == 1 {
		go TellOwners()
	}
}

// TellOwners returns when the owners of all files that have become ready have been told.
//
// Context: goroutine, without locks; at the end of each system call.
func TellOwners() {
	if woken.n.Load() != 0 {
		tellOwners()
	}
}

func tellOwners() {
	woken.telling.Lock()
	defer woken.telling.Unlock()
	for _, w := range takeWoken() {
		w.file.tell(int(w.fd.Load()), w.now())
		woken.n.Add(-1)
	}
}

func takeWoken() (all []*asyncWaiter) {
	woken.mu.Lock()
	defer woken.mu.Unlock()
	all, woken.all = woken.all, nil
	return all
}

// now is the events that are possible now: another reader or writer may have been faster.
func (w *asyncWaiter) now() poll.Events {
	if ev := w.file.Poll() & (w.Mask | poll.Err | poll.Hup); ev != 0 {
		return ev
	}
	return w.Mask & (poll.In | poll.Out)
}
