package vfs

import (
	"math"
	"slices"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/poll"
	"sonde/sysctl"
)

// Leases of fcntl: the holder of a lease is told before another process opens the file, and the
// opening waits until the lease is released. A lease belongs to an open file, and ends with its
// last Close.

// LeaseKind says which openings break a lease.
type LeaseKind int

// Opening for writing breaks a read lease; any opening breaks a write lease.
const (
	NoLease LeaseKind = iota
	ReadLease
	WriteLease
)

// leaseBreakTime is how long a lease may delay an opening of the file, in seconds.
var leaseBreakTime = sysctl.NewRange("fs.lease-break-time", 45, 0, math.MaxInt32,
	"seconds that a process has to release a lease when it is asked to; 0: no limit")

// access counts the openings of a regular file, and has its leases. It implements backing.Text.
type access struct {
	mu sync.Mutex
	// guarded by mu:
	opens, writers int // open files; those of them that can write
	leases         []*lease
	texts          int // programs that run it

	memory bool // it never has a name: programs write programs into it, and run them while it is open

	queue poll.Queue // waiters for a lease's end
}

type lease struct {
	file     *File
	fd       int
	kind     LeaseKind
	becomes  LeaseKind // kind, or the kind to which it is being broken
	deadline time.Time // when the break is enforced; zero: never
}

// broken is the kind of lease that remains of one after an opening.
func broken(k LeaseKind, flag int) LeaseKind {
	switch writes := flag&accessMask != O_RDONLY || flag&O_TRUNC != 0; {
	case writes:
		return NoLease
	case k == WriteLease:
		return ReadLease
	}
	return k
}

// Lease returns the lease that f has, or the one it may keep while its lease is being broken.
func (f *File) Lease() LeaseKind {
	r, ok := f.node.(*regular)
	if !ok {
		return NoLease
	}
	a := &r.access
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.of(f); l != nil {
		return l.becomes
	}
	return NoLease
}

// of returns f's lease, nil for none. Context: mu held.
func (a *access) of(f *File) *lease {
	for _, l := range a.leases {
		if l.file == f {
			return l
		}
	}
	return nil
}

// SetLease takes or changes a lease on f; NoLease releases it. When another process opens the file,
// the owner of f gets a signal; if f has no owner it becomes o. fd is the descriptor for the
// signal.
//
// Errors: EINVAL if f is not a regular file; EAGAIN if others have the file open, for writing or,
// against WriteLease, at all; if there is no lease to release; and for a kind that is being broken.
func (f *File) SetLease(k LeaseKind, fd int, o Owner) error {
	r, ok := f.node.(*regular)
	if !ok || f.handle == nil {
		return syscall.EINVAL
	}
	if err := r.access.set(f, k, fd); err != nil {
		return err
	}
	if k == NoLease {
		f.leased.Store(false)
	} else {
		f.leased.Store(true)
		f.ownIfNobody(o)
	}
	r.access.queue.Notify(poll.In)
	return nil
}

func (a *access) set(f *File, k LeaseKind, fd int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	own := a.of(f)
	switch {
	case k == NoLease && own == nil:
		return syscall.EAGAIN
	case k == NoLease:
		a.remove(own)
		return nil
	case k == ReadLease && a.writers > 0, k == WriteLease && a.opens > 1,
		own != nil && own.kind != own.becomes && k > own.becomes, own == nil && a.breaking(), f.Closed():
		return syscall.EAGAIN
	case own == nil:
		own = &lease{file: f}
		a.leases = append(a.leases, own)
	}
	own.kind, own.becomes, own.fd, own.deadline = k, k, fd, time.Time{}
	return nil
}

// breaking reports whether a lease is being broken. Context: mu held.
func (a *access) breaking() bool {
	return slices.ContainsFunc(a.leases, func(l *lease) bool { return l.kind != l.becomes })
}

// remove ends a lease. Context: mu held.
func (a *access) remove(l *lease) {
	a.leases = slices.DeleteFunc(a.leases, func(o *lease) bool { return o == l })
}

// dropLease ends the lease of a file that is being closed.
func (f *File) dropLease() {
	if f.leased.Load() {
		f.SetLease(NoLease, 0, nil)
	}
}

// Leased is the error of an opening that has to wait for the end of a lease. It is a poll.Source
// that is ready at that time.
type Leased struct {
	*access
	flag int
}

// Error implements error.
func (Leased) Error() string { return "somebody has a lease on the file" }

// Unwrap returns EAGAIN.
func (Leased) Unwrap() error { return syscall.EAGAIN }

// enter counts an opening of the file.
//
// Errors: ETXTBSY; Leased, after the holder of the lease has been told.
func (a *access) enter(flag int) error {
	told, err := a.admit(flag)
	for _, l := range told {
		l.file.tell(l.fd, poll.Msg)
	}
	return err
}

// admit is enter, and returns the leases that it begins to break.
func (a *access) admit(flag int) (told []lease, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.texts > 0 && (flag&accessMask != O_RDONLY || flag&O_TRUNC != 0) {
		return nil, syscall.ETXTBSY
	}
	for _, l := range a.leases {
		to := broken(l.kind, flag)
		if to == l.kind {
			continue
		}
		err = Leased{a, flag}
		if to >= l.becomes {
			continue // it is being broken to that kind, or to a weaker one
		}
		if limit := leaseBreakTime.Get(); l.becomes == l.kind && limit > 0 {
			l.deadline = time.Now().Add(time.Duration(limit) * time.Second)
		}
		l.becomes = to
		told = append(told, *l)
	}
	if err == nil {
		a.count(flag, 1)
	}
	return told, err
}

// count counts an open file. Context: mu held.
func (a *access) count(flag, by int) {
	a.opens += by
	if flag&accessMask != O_RDONLY {
		a.writers += by
	}
}

// left undoes enter.
func (a *access) left(flag int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count(flag, -1)
}

// Poll implements poll.Source.
func (l Leased) Poll() poll.Events {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.leases {
		if broken(o.kind, l.flag) != o.kind {
			return 0
		}
	}
	return poll.In
}

// Queue implements poll.Source.
func (l Leased) Queue() *poll.Queue { return &l.queue }

// Wait waits until the lease has been released or its time is over. Then the file can be opened,
// unless there is a new lease. cancel ends the wait: see poll.Until.
//
// Errors: EINTR.
func (l Leased) Wait(cancel <-chan struct{}) error {
	for l.Poll() == 0 {
		if _, err := poll.Many([]poll.Want{{Source: l, Events: poll.In}}, l.expire(), cancel); err != nil {
			return err
		}
	}
	return nil
}

// expire removes the leases whose time is over, and returns how long to wait for the next one; a
// negative time is for ever.
func (l Leased) expire() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := time.Duration(-1)
	for _, o := range slices.Clone(l.leases) {
		if o.kind == o.becomes || o.deadline.IsZero() {
			continue
		}
		left := time.Until(o.deadline)
		switch {
		case left > 0 && (next < 0 || left < next):
			next = left
		case left > 0:
		case o.becomes == NoLease:
			l.remove(o)
		default:
			o.kind, o.deadline = o.becomes, time.Time{}
		}
	}
	return next
}
