package vfs

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/poll"
)

// Signals of open files: with O_ASYNC the owner of a file is sent one whenever the file
// may have become ready.

// An Owner gets signals about what happens to an open file: a process, a group of them, a thread.
type Owner interface {
	// Tell says what is possible with the file, which is fd for its user, by a signal:
	// 0 means SIGIO. Context: goroutine, without locks.
	Tell(fd, signal int, ev poll.Events)
}

// notice is whom an open file tells, and how.
type notice struct {
	mu sync.Mutex
	// guarded by mu:
	owner  Owner
	signal int
	ear    *ear // nil without O_ASYNC
}

// noticeOf returns f's notice, and makes it if there is none.
func (f *File) noticeOf() *notice {
	if n := f.notice.Load(); n != nil {
		return n
	}
	f.notice.CompareAndSwap(nil, new(notice))
	return f.notice.Load()
}

// Owner returns who gets signals about f, nil for nobody, and which signal.
func (f *File) Owner() (Owner, int) {
	n := f.notice.Load()
	if n == nil {
		return nil, 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.owner, n.signal
}

// SetOwner sets who gets signals about f; nil: nobody.
func (f *File) SetOwner(o Owner) {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owner = o
}

// ownIfNobody is SetOwner where there is none.
func (f *File) ownIfNobody(o Owner) {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.owner == nil {
		n.owner = o
	}
}

// SetSignal says by which signal the owner is told; 0 is SIGIO without further facts.
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

// SetAsync sets or clears O_ASYNC. fd is what the owner is told.
//
// Errors: ENOTTY for what cannot become ready: only pipes, sockets and terminals do.
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

// listen is SetAsync for what can become ready.
func (f *File) listen(on bool, fd int) {
	n := f.noticeOf()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.ear != nil:
		n.ear.fd.Store(int32(fd))
		if !on {
			n.ear.close()
			n.ear = nil
			f.flag.And(^int32(O_ASYNC))
		}
	case on && !f.Closed():
		n.ear = newEar(f, fd)
		f.flag.Or(O_ASYNC)
	}
}

// ear hears of a file with O_ASYNC. Its goroutine tells the owner: whoever makes the file
// ready may hold locks that sending a signal takes.
type ear struct {
	poll.Waiter
	file  *File
	queue *poll.Queue
	fd    atomic.Int32
	heard atomic.Int64 // times that have not been told of
	woken chan struct{}
	done  chan struct{}
}

func newEar(f *File, fd int) *ear {
	e := &ear{file: f, queue: f.Queue(), woken: make(chan struct{}, 1), done: make(chan struct{})}
	e.fd.Store(int32(fd))
	e.Mask = e.wanted()
	e.Wake = e.wake
	e.queue.Add(&e.Waiter)
	go e.run()
	return e
}

// wanted is what may be possible with the file.
func (e *ear) wanted() poll.Events {
	const reading, writing = poll.In | poll.Pri | poll.RdHup, poll.Out
	switch e.file.Flags() & accessMask {
	case O_RDONLY:
		return reading
	case O_WRONLY:
		return writing
	}
	return reading | writing
}

func (e *ear) wake() {
	e.heard.Add(1)
	select {
	case e.woken <- struct{}{}:
	default:
	}
}

func (e *ear) run() {
	for {
		select {
		case <-e.done:
			return
		case <-e.woken:
			for range e.heard.Swap(0) {
				e.file.tell(int(e.fd.Load()), e.now())
			}
		}
	}
}

// now is what is possible with the file. Somebody may have used that up already.
func (e *ear) now() poll.Events {
	if ev := e.file.Poll() & (e.Mask | poll.Err | poll.Hup); ev != 0 {
		return ev
	}
	return e.Mask & (poll.In | poll.Out)
}

func (e *ear) close() {
	e.queue.Remove(&e.Waiter)
	close(e.done)
}
