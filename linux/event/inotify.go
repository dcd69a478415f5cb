package event

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/lock"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/sysctl"
)

// The limits of inotify, in /proc/sys/fs/inotify.
var (
	mostQueued = sysctl.NewRange("fs.inotify.max_queued_events", 16384, 0, math.MaxInt32,
		"events that an inotify instance keeps; if more arrive, they are lost, and IN_Q_OVERFLOW reports it")
	mostInstances = sysctl.NewRange("fs.inotify.max_user_instances", 128, 0, math.MaxInt32, "inotify instances that may exist at a time")
	mostWatches   = sysctl.NewRange("fs.inotify.max_user_watches", 65536, 0, math.MaxInt32, "files and directories that all inotify instances may watch together")
)

// mostOfAll is how many events all instances keep together: each may be as many as mostQueued.
const mostOfAll = 64 << 10

var instances, watched, queued atomic.Int64

// Inotify is a file from which a program reads what happens to other files.
//
// Locks: control > vfs's watches > mu.
type Inotify struct {
	vfs.Anonymous
	vfs.Stream
	queue poll.Queue

	control sync.Mutex // held while watches are added or removed

	mu sync.Mutex
	// guarded by mu:
	events  []happening
	bytes   int // length of all events as they are read
	numbers map[*vfs.Watch]int
	watches map[int]*vfs.Watch
	byInode map[uint64]*vfs.Watch
	last    int // the last number that was given out
	closed  bool
}

// happening is an event that has not been read yet.
type happening struct {
	watch        int // -1: none
	what, cookie uint32
	name         string
}

// size is the length of the event in bytes: a struct inotify_event, and the name with at least one
// zero byte, rounded up to a multiple of that structure's size.
func (h happening) size() int {
	if h.name == "" {
		return eventHead
	}
	return eventHead + (len(h.name)+eventHead)/eventHead*eventHead
}

const eventHead = 16

// NewInotify returns an open instance without watches. flag is O_NONBLOCK or 0.
//
// Errors: EMFILE beyond the limit.
func NewInotify(flag int) (*vfs.File, error) {
	if instances.Add(1) > mostInstances.Get() {
		instances.Add(-1)
		return nil, syscall.EMFILE
	}
	i := &Inotify{Anonymous: vfs.NewAnonymous(anonymous), numbers: map[*vfs.Watch]int{}, watches: map[int]*vfs.Watch{}, byInode: map[uint64]*vfs.Watch{}}
	return vfs.NewFile("anon_inode:inotify", i, i, vfs.O_RDONLY|flag&vfs.O_NONBLOCK), nil
}

// kept is the bits of a mask that the watch keeps.
const kept = abi.IN_ALL_EVENTS | abi.IN_ONESHOT | abi.IN_EXCL_UNLINK

// Add watches the node at a place, or changes which of its events are reported: mask replaces the
// old one or, with IN_MASK_ADD, is added to it. It returns the watch's number.
//
// Errors: EEXIST for IN_MASK_CREATE if the node is watched already, ENOSPC beyond the limit; EBADF
// if the instance is closed.
func (i *Inotify) Add(at *vfs.Place, mask uint32) (int, error) {
	i.control.Lock()
	defer i.control.Unlock()
	if i.Poll() == poll.Err {
		return 0, syscall.EBADF
	}
	if w, n := i.find(at.Ino()); w != nil {
		if mask&abi.IN_MASK_CREATE != 0 {
			return 0, syscall.EEXIST
		}
		w.SetMask(func(old uint32) uint32 {
			if mask&abi.IN_MASK_ADD != 0 {
				return old | mask&kept
			}
			return mask & kept
		})
		return n, nil
	}
	if watched.Add(1) > mostWatches.Get() {
		watched.Add(-1)
		return 0, syscall.ENOSPC
	}
	w := at.Watch(i, 0) // reports nothing until it has a number
	n := i.number(w)
	w.SetMask(func(uint32) uint32 { return mask & kept })
	return n, nil
}

func (i *Inotify) find(ino uint64) (*vfs.Watch, int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w := i.byInode[ino]
	return w, i.numbers[w]
}

// number gives a watch its number.
func (i *Inotify) number(w *vfs.Watch) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last = i.last%math.MaxInt32 + 1
	for i.watches[i.last] != nil {
		i.last = i.last%math.MaxInt32 + 1
	}
	i.numbers[w], i.watches[i.last], i.byInode[w.Ino] = i.last, w, w
	return i.last
}

// Remove ends a watch and reports that as an event.
//
// Errors: EINVAL.
func (i *Inotify) Remove(number int) error {
	i.control.Lock()
	defer i.control.Unlock()
	w := i.watch(number)
	if w == nil || !w.Drop() {
		return syscall.EINVAL
	}
	i.Gone(w)
	return nil
}

func (i *Inotify) watch(number int) *vfs.Watch {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.watches[number]
}

// Happened implements vfs.Watcher.
func (i *Inotify) Happened(w *vfs.Watch, what, cookie uint32, name string) {
	if i.happened(w, what, cookie, name) {
		i.queue.Notify(poll.In)
	}
}

func (i *Inotify) happened(w *vfs.Watch, what, cookie uint32, name string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	number, ok := i.numbers[w]
	return ok && i.add(happening{number, what, cookie, name})
}

// add appends an event, unless it equals the last one. Context: mu held.
func (i *Inotify) add(h happening) bool {
	n := len(i.events)
	switch {
	case i.closed:
		return false
	case n > 0 && h.same(i.events[n-1]) && h.what&abi.IN_IGNORED == 0:
		return false
	case int64(n) > mostQueued.Get():
		return false
	case int64(n) == mostQueued.Get() || queued.Load() >= mostOfAll:
		h = happening{watch: -1, what: abi.IN_Q_OVERFLOW}
		if n > 0 && h.same(i.events[n-1]) {
			return false
		}
	}
	h.name = strings.Clone(h.name) // it may be a part of a long path
	queued.Add(1)
	i.events = append(i.events, h)
	i.bytes += h.size()
	return true
}

// same reports whether two events are equal. The halves of a rename differ in what.
func (h happening) same(o happening) bool {
	return h.watch == o.watch && h.what == o.what && h.name == o.name
}

// Gone implements vfs.Watcher.
func (i *Inotify) Gone(w *vfs.Watch) {
	if i.forget(w) {
		i.queue.Notify(poll.In)
	}
}

func (i *Inotify) forget(w *vfs.Watch) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	number, ok := i.numbers[w]
	if !ok {
		return false
	}
	watched.Add(-1)
	delete(i.numbers, w)
	delete(i.watches, number)
	delete(i.byInode, w.Ino)
	return i.add(happening{watch: number, what: abi.IN_IGNORED})
}

// ReadAt implements vfs.Handle: it reads as many events as fit.
//
// Errors: EAGAIN if there is none, EINVAL if the first does not fit.
func (i *Inotify) ReadAt(p []byte, _ int64) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.events) == 0 {
		return 0, syscall.EAGAIN
	}
	n, taken := 0, 0
	for _, h := range i.events {
		if n+h.size() > len(p) {
			break
		}
		h.put(p[n:])
		n += h.size()
		taken++
	}
	if taken == 0 {
		return 0, syscall.EINVAL
	}
	i.bytes -= n
	queued.Add(-int64(taken))
	if i.events = i.events[taken:]; len(i.events) == 0 {
		i.events = nil
	}
	return n, nil
}

// put stores a struct inotify_event.
func (h happening) put(b []byte) {
	size := h.size()
	clear(b[:size])
	binary.LittleEndian.PutUint32(b, uint32(h.watch))
	binary.LittleEndian.PutUint32(b[4:], h.what)
	binary.LittleEndian.PutUint32(b[8:], h.cookie)
	binary.LittleEndian.PutUint32(b[12:], uint32(size-eventHead))
	copy(b[eventHead:], h.name)
}

// WriteAt implements vfs.Handle. Errors: EBADF.
func (i *Inotify) WriteAt([]byte, int64) (int, error) { return 0, syscall.EBADF }

// Buffered returns how many bytes can be read, for FIONREAD.
func (i *Inotify) Buffered() int { return lock.Get(&i.mu, &i.bytes) }

// Queue implements poll.Source.
func (i *Inotify) Queue() *poll.Queue { return &i.queue }

// Poll implements poll.Source. If the instance is closed, waiters get an error.
func (i *Inotify) Poll() poll.Events {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.closed:
		return poll.Err
	case len(i.events) > 0:
		return poll.In
	}
	return 0
}

// Close implements vfs.Handle.
func (i *Inotify) Close() error {
	i.control.Lock()
	defer i.control.Unlock()
	for _, w := range i.finish() {
		if w.Drop() {
			watched.Add(-1)
		}
	}
	instances.Add(-1)
	i.queue.Notify(poll.Err)
	return nil
}

// finish makes the instance ignore further events, and returns its watches.
func (i *Inotify) finish() (all []*vfs.Watch) {
	i.mu.Lock()
	defer i.mu.Unlock()
	all = slices.Collect(maps.Values(i.watches))
	queued.Add(-int64(len(i.events)))
	i.closed, i.events, i.bytes = true, nil, 0
	return all
}

// Describe implements vfs.Describer.
func (i *Inotify) Describe(w io.Writer) {
	i.control.Lock()
	defer i.control.Unlock()
	for _, n := range i.all() {
		if o := i.watch(n); o != nil {
			fmt.Fprintf(w, "inotify wd:%x ino:%x sdev:%x mask:%x ignored_mask:0\n", n, o.Ino, o.Dev, o.Mask())
		}
	}
}

// all returns the numbers of the watches, the newest first, as Linux lists them.
func (i *Inotify) all() []int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.SortedFunc(maps.Keys(i.watches), func(a, b int) int { return b - a })
}
