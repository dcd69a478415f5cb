package event

import (
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
)

// anonymous is the mode of files that have neither a type nor a name.
const anonymous = fs.ModeIrregular | 0600

// What may be set in the events of an item beside poll.Events.
//
// Source: Linux, uapi/linux/eventpoll.h.
const (
	Exclusive   = 1 << 28 // accepted, but all waiters are woken
	OneShot     = abi.EPOLLONESHOT
	EdgeTrigger = abi.EPOLLET

	wakeUp = 1 << 29 // EPOLLWAKEUP, which keeps a system from suspending

	// besideExclusive is the flags that may be used with Exclusive.
	besideExclusive = uint32(poll.In|poll.Out|poll.Err|poll.Hup) | wakeUp | EdgeTrigger | Exclusive
)

// Event is what Wait returns for a file: its events, and the data given to Add.
type Event struct {
	Events uint32
	Data   uint64
}

// Epoll is a set of files to wait for. Each has a waiter in its file's queue, which puts it into
// the list of those that may be ready; Wait looks only at those.
//
// A set can be in another one: see nest.go, which refuses cycles.
//
// Locks: control > nested.mu; control > the queues of files > mu; mu > locks that Poll of a file
// takes. Of two sets, the outer one's locks come first; of the queues, the inner one's.
type Epoll struct {
	vfs.Anonymous
	vfs.NoBytes
	queue poll.Queue

	control sync.Mutex
	// guarded by control:
	items  map[key]*item
	closed bool

	mu sync.Mutex
	// guarded by mu:
	ready []*item // each item once
	stale int     // items in ready that are gone
}

// key names an item: the number of a descriptor may be used again for another file.
type key struct {
	fd   int
	file *vfs.File
}

type item struct {
	key
	source    poll.Source // what to wait for: the file, or its substitute
	queue     *poll.Queue // the queue that holds the waiter
	waiter    poll.Waiter
	exclusive bool

	// guarded by Epoll.mu:
	events uint32
	data   uint64
	listed bool // is in ready
	gone   bool
}

// NewEpoll returns an empty set as an open file.
func NewEpoll() *vfs.File {
	e := &Epoll{Anonymous: vfs.NewAnonymous(anonymous), items: map[key]*item{}}
	return vfs.NewFile("anon_inode:[eventpoll]", e, e, vfs.O_RDWR)
}

// mostItems bounds the items of all sets together: the number of a closed descriptor can be used
// again and again for files that other descriptors keep open.
const mostItems = 64 << 10

var itemCount atomic.Int64

// Add puts a file into the set. events are poll.Events and the flags above.
//
// Errors: EEXIST, EPERM for a file that is always ready, ENOSPC; EINVAL for Exclusive with a flag
// that it excludes, or for a set; ELOOP as nest; EBADF if the set is closed.
func (e *Epoll) Add(fd int, f *vfs.File, events uint32, data uint64) error {
	return e.AddSource(fd, f, f, events, data)
}

// AddSource is Add with another source to wait for than f itself: for a signalfd, the signals that
// the caller would read.
func (e *Epoll) AddSource(fd int, f *vfs.File, source poll.Source, events uint32, data uint64) error {
	if _, ok := f.Handle().(poll.Source); !ok {
		return syscall.EPERM
	}
	inner, _ := f.Handle().(*Epoll)
	if events&Exclusive != 0 && (events&^besideExclusive != 0 || inner != nil) {
		return syscall.EINVAL
	}
	e.control.Lock()
	defer e.control.Unlock()
	k := key{fd, f}
	switch {
	case e.closed:
		return syscall.EBADF
	case e.items[k] != nil:
		return syscall.EEXIST
	}
	if itemCount.Add(1) > mostItems {
		itemCount.Add(-1)
		return syscall.ENOSPC
	}
	if inner != nil {
		if err := nest(e, inner); err != nil {
			itemCount.Add(-1)
			return err
		}
	}
	it := &item{key: k, source: source, queue: source.Queue(), exclusive: events&Exclusive != 0, events: events, data: data}
	it.waiter = poll.Waiter{Mask: ^poll.Events(0), Wake: func() { e.wake(it) }}
	e.items[k] = it
	it.queue.Add(&it.waiter)
	e.look(it)
	return nil
}

// Modify changes the awaited events, and arms a OneShot again.
//
// Errors: ENOENT; EINVAL for Exclusive, also if the file was added with it.
func (e *Epoll) Modify(fd int, f *vfs.File, events uint32, data uint64) error {
	if events&Exclusive != 0 {
		return syscall.EINVAL
	}
	e.control.Lock()
	defer e.control.Unlock()
	it := e.items[key{fd, f}]
	switch {
	case it == nil:
		return syscall.ENOENT
	case it.exclusive:
		return syscall.EINVAL
	}
	e.set(it, events, data)
	e.look(it)
	return nil
}

func (e *Epoll) set(it *item, events uint32, data uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	it.events, it.data = events, data
}

// Delete removes a file from the set.
//
// Errors: ENOENT.
func (e *Epoll) Delete(fd int, f *vfs.File) error {
	e.control.Lock()
	defer e.control.Unlock()
	it := e.items[key{fd, f}]
	if it == nil {
		return syscall.ENOENT
	}
	e.drop(it)
	return nil
}

// Len returns how many files are in the set.
func (e *Epoll) Len() int {
	e.control.Lock()
	defer e.control.Unlock()
	return len(e.items)
}

// drop removes an item. Context: control held.
func (e *Epoll) drop(it *item) {
	delete(e.items, it.key)
	itemCount.Add(-1)
	it.queue.Remove(&it.waiter)
	e.forsake(it)
	if inner, ok := it.file.Handle().(*Epoll); ok {
		unnest(e, inner) // not before: while e asks inner, e must not be put into inner
	}
}

// forsake ends the questions to the item's file. It returns when none is being asked. Once half of ready
// is gone, it is cleared of them: a program may never wait.
func (e *Epoll) forsake(it *item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	it.gone = true
	if !it.listed {
		return
	}
	if e.stale++; 2*e.stale > len(e.ready) {
		e.ready = slices.DeleteFunc(e.ready, func(it *item) bool { return it.gone })
		e.stale = 0
	}
}

// look lists the item if it is ready already.
func (e *Epoll) look(it *item) {
	if it.source.Poll() != 0 {
		e.wake(it)
	}
}

// wake lists an item that may be ready.
func (e *Epoll) wake(it *item) {
	e.list(it)
	e.queue.Notify(poll.In)
}

func (e *Epoll) list(it *item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !it.listed {
		it.listed = true
		e.ready = append(e.ready, it)
	}
}

// Wait fills dst with the events of ready files, and returns how many there are. If no file is
// ready it waits, without a limit if timeout is negative. cancel, which may be nil, ends the wait.
//
// Errors: EINVAL for an empty dst, EINTR.
func (e *Epoll) Wait(dst []Event, timeout time.Duration, cancel <-chan struct{}) (int, error) {
	if len(dst) == 0 {
		return 0, syscall.EINVAL
	}
	late := time.Now().Add(timeout)
	for {
		if n := e.collect(dst); n > 0 || timeout == 0 {
			return n, nil
		}
		left := time.Duration(-1)
		if timeout > 0 {
			if left = time.Until(late); left <= 0 {
				return 0, nil
			}
		}
		if _, err := poll.Many([]poll.Want{{Source: e, Events: poll.In}}, left, cancel); err != nil {
			return 0, err
		}
	}
}

// collect takes the events of listed items. An item that is still ready stays listed, after the
// others, so that each gets its turn.
func (e *Epoll) collect(dst []Event) (n int) {
	n, closed := e.take(dst)
	e.forget(closed)
	return n
}

// take is collect; closed are the items whose files have been closed.
func (e *Epoll) take(dst []Event) (n int, closed []*item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.ready
	e.ready = nil
	for i, it := range list {
		if n == len(dst) {
			e.ready = append(list[i:len(list):len(list)], e.ready...)
			break
		}
		it.listed = false
		if it.gone {
			e.stale--
			continue
		}
		if it.file.Closed() {
			closed = append(closed, it)
			continue
		}
		ev := it.now()
		if ev == 0 {
			continue
		}
		dst[n] = Event{ev, it.data}
		n++
		switch {
		case it.events&OneShot != 0:
			it.events &= EdgeTrigger | OneShot
		case it.events&EdgeTrigger == 0:
			it.listed = true
			e.ready = append(e.ready, it)
		}
	}
	return n, closed
}

// now returns the events to report for the item. Context: mu held.
func (it *item) now() uint32 {
	wanted := poll.Events(it.events &^ (Exclusive | OneShot | EdgeTrigger))
	if wanted == 0 && it.events&OneShot != 0 {
		return 0 // it has been reported, and waits for Modify
	}
	return uint32(it.source.Poll() & (wanted | poll.Err | poll.Hup))
}

// forget removes items whose files have been closed.
func (e *Epoll) forget(closed []*item) {
	if len(closed) == 0 {
		return
	}
	e.control.Lock()
	defer e.control.Unlock()
	for _, it := range closed {
		if e.items[it.key] == it {
			e.drop(it)
		}
	}
}

// Queue implements poll.Source.
func (e *Epoll) Queue() *poll.Queue { return &e.queue }

// Poll implements poll.Source.
func (e *Epoll) Poll() poll.Events {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, it := range e.ready {
		if !it.gone && !it.file.Closed() && it.now() != 0 {
			return poll.In
		}
	}
	return 0
}

// Close implements vfs.Handle.
func (e *Epoll) Close() error {
	e.control.Lock()
	defer e.control.Unlock()
	e.closed = true
	for _, it := range e.items {
		e.drop(it)
	}
	return nil
}
