package vfs

import (
	"sync"
	"syscall"

	"sonde/kernel/poll"
)

// maxRecords is how many locks of a kind all files together may have: they use the kernel's memory,
// and a program may lock every other byte.
const maxRecords = 1 << 16

// recordTable is the locks of all files, of one kind: those of fcntl, or those of flock.
//
// Locks: recordTable.mu > poll.Queue.mu.
type recordTable struct {
	mu sync.Mutex
	// guarded by mu:
	of      map[uint64]*recorded // by inode number, because not all nodes can be compared
	waiting map[*wanted]bool
	n       int // locks
}

func newRecordTable() *recordTable {
	return &recordTable{of: make(map[uint64]*recorded), waiting: make(map[*wanted]bool)}
}

// records has the locks of fcntl.
var records = newRecordTable()

// recorded is a file with locks or waiters.
type recorded struct {
	list    recordList // guarded by recordTable.mu
	waiters int        // guarded by recordTable.mu
	queue   poll.Queue
}

// wanted is a lock for which its owner waits, as a poll.Source.
type wanted struct {
	Record
	file  *recorded
	table *recordTable
}

// take gives r to its owner. If a lock of another owner conflicts, it returns the wanted to wait
// for, which leave must end, or EAGAIN if wait is false.
func (t *recordTable) take(ino uint64, r Record, wait bool) (*wanted, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.of[ino]
	if c == nil {
		c = new(recorded)
	}
	obstacles := c.list.conflicts(r)
	switch {
	case len(obstacles) == 0:
		return nil, t.set(ino, c, c.list.with(r))
	case !wait:
		return nil, syscall.EAGAIN
	case t.ring(obstacles, r.Owner):
		return nil, syscall.EDEADLK
	}
	w := &wanted{r, c, t}
	t.waiting[w] = true
	c.waiters++
	return w, nil
}

// set gives a file a new list. Context: mu held.
//
// Errors: ENOLCK; nothing has changed then.
func (t *recordTable) set(ino uint64, c *recorded, l recordList) error {
	more := len(l) - len(c.list)
	if more > 0 && t.n+more > maxRecords {
		return syscall.ENOLCK
	}
	t.n += more
	c.list = l
	t.keep(ino, c)
	c.queue.Notify(poll.In)
	return nil
}

// keep stores a file in the map as long as it has locks or waiters. Context: mu held.
func (t *recordTable) keep(ino uint64, c *recorded) {
	if len(c.list) == 0 && c.waiters == 0 {
		delete(t.of, ino)
	} else {
		t.of[ino] = c
	}
}

// give removes r's bytes from the locks of r's owner.
func (t *recordTable) give(ino uint64, r Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.of[ino]; c != nil {
		return t.set(ino, c, c.list.without(r))
	}
	return nil
}

// leave ends the wait for w.
func (t *recordTable) leave(ino uint64, w *wanted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, w)
	w.file.waiters--
	t.keep(ino, w.file)
}

// obstacles returns the locks that conflict with r.
func (t *recordTable) obstacles(ino uint64, r Record) []Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.of[ino]; c != nil {
		return c.list.conflicts(r)
	}
	return nil
}

// ring reports whether an owner of one of the obstacles waits, directly or through others, for
// owner. Owners that are open files are left out: any process that has the file open can release
// its locks. Context: mu held.
func (t *recordTable) ring(obstacles []Record, owner any) bool {
	if _, open := owner.(*File); open {
		return false
	}
	seen := make(map[any]bool)
	for next := obstacles; len(next) > 0; {
		o := next[0].Owner
		next = next[1:]
		if o == owner {
			return true
		}
		if _, open := o.(*File); open || seen[o] {
			continue
		}
		seen[o] = true
		for w := range t.waiting {
			if w.Owner == o {
				next = append(next, w.file.list.conflicts(w.Record)...)
			}
		}
	}
	return false
}

func (w *wanted) Poll() poll.Events {
	w.table.mu.Lock()
	defer w.table.mu.Unlock()
	if len(w.file.list.conflicts(w.Record)) == 0 {
		return poll.In
	}
	return 0
}

func (w *wanted) Queue() *poll.Queue { return &w.file.queue }
