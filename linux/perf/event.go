package perf

import (
	"encoding/binary"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kernel/grace"
	"sonde/kernel/poll"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/probe/attach"
	"sonde/probe/program"
	"sonde/probe/ring"
)

// An Event is an open file that counts something.
type Event struct {
	vfs.Anonymous
	vfs.NoBytes
	attr   Attr
	source source
	id     uint64
	cpu    int          // the only CPU that counts; -1: all
	tid    int          // the only thread that counts; 0: all
	thread *proc.Thread // of tid
	clock  bool         // hits are ticks, with the registers that these have interrupted
	leader *Event       // of its group: it may be the event itself

	follower *follower // counts in other threads, too; nil: nothing does

	hits   atomic.Uint64
	period atomic.Uint64             // hits; 0: there are no samples
	own    ring.Perf                 // where its samples go, and what programs put out
	ring   atomic.Pointer[ring.Perf] // its own, or another event's; nil: nowhere
	memory memory

	mu sync.Mutex
	// guarded by mu:
	enabled bool
	closed  bool
	since   time.Duration // when it was enabled
	ran     time.Duration // before that
	base    uint64        // what was counted when it was reset
	ended   uint64        // what the source had counted while the event was enabled before
	before  uint64        // what the source had counted when it was enabled
	link    link          // what counts it, or runs its program; nil: nothing has to
	prog    *program.Link // the link, if it is a program's
	members []*Event      // of a leader
}

// link is what a source is attached by: a link of its own, or of its program.
type link interface {
	Close()
	Detach() grace.Change
	Enable(on bool) error
	Places() []attach.Placed
}

var lastID atomic.Uint64

// now is the clock of the times that events report.
var now = func() time.Duration { return time.Duration(timeNow()) }

// newEvent returns an event, not enabled, of a request that fits.
func newEvent(r *Request, s source) *Event {
	e := &Event{Anonymous: vfs.NewAnonymous(fs.ModeIrregular | 0600), attr: r.Attr, source: s, id: lastID.Add(1), cpu: r.CPU, thread: r.Thread, clock: s.clock}
	if r.Thread != nil {
		e.tid = r.Thread.TID
	}
	e.own.CPU, e.own.ID, e.own.Words = r.CPU, e.id, r.Attr.Sample
	e.period.Store(s.period(&r.Attr))
	if e.leader = r.Group; e.leader == nil {
		e.leader = e
	}
	return e
}

// file opens the event.
func (e *Event) file() *vfs.File { return vfs.NewFile("anon_inode:[perf_event]", e, e, vfs.O_RDWR) }

// Of returns the event that f is.
//
// Errors: EBADF.
func Of(f *vfs.File) (*Event, error) {
	if e, ok := f.Handle().(*Event); ok {
		return e, nil
	}
	return nil, syscall.EBADF
}

// PerfRing returns where programs put out samples for the event; nil: they cannot.
func (e *Event) PerfRing() *ring.Perf {
	if e.attr.Type != software || e.attr.Config != bpfOutput {
		return nil
	}
	return &e.own
}

// Enable lets the event count, or not.
//
// Errors: those of attach.Link.Enable.
func (e *Event) Enable(on bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.enabled == on || e.closed {
		return nil
	}
	if e.link != nil {
		if err := e.link.Enable(on); err != nil {
			return err
		}
	}
	if on {
		e.since, e.before = now(), e.counts()
	} else {
		e.ran += now() - e.since
		e.ended += e.counted()
	}
	e.enabled = on
	return e.rearm()
}

// counts is what is not counted by hits: time.
func (e *Event) counts() uint64 {
	if e.source.count == nil {
		return 0
	}
	return e.source.count(e)
}

// counted is what such a count has grown since the event was enabled. Called with mu held.
func (e *Event) counted() uint64 { return e.counts() - e.before }

// count is the number that a read returns. Called with mu held.
func (e *Event) count() uint64 {
	n := e.ended - e.base
	if e.source.count == nil {
		n += e.hits.Load()
	}
	if e.enabled {
		n += e.counted()
	}
	if e.prog != nil && e.source.whole {
		n += e.prog.Ledger().Handled
	}
	return n
}

// Reset sets the count to 0.
func (e *Event) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.base += e.count()
}

// values appends what a read returns of one event: its count, and what else is asked for.
func (e *Event) values(b []byte, times bool, as uint64) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	b = binary.LittleEndian.AppendUint64(b, e.count())
	ran := e.ran
	if e.enabled {
		ran += now() - e.since
	}
	for _, v := range []struct {
		asked bool
		value uint64
	}{
		{times && as&readEnabled != 0, uint64(ran)}, {times && as&readRunning != 0, uint64(ran)}, {as&readID != 0, e.id}, {as&readLost != 0, e.lost()},
	} {
		if v.asked {
			b = binary.LittleEndian.AppendUint64(b, v.value)
		}
	}
	return b
}

func (e *Event) lost() uint64 {
	_, lost := e.own.Counts()
	return lost
}

// ReadAt implements vfs.Handle.
//
// Errors: ENOSPC there is less room than the event's read_format needs.
func (e *Event) ReadAt(p []byte, _ int64) (int, error) {
	var b []byte
	if as := e.attr.Read; as&readGroup == 0 {
		b = e.values(nil, true, as)
	} else {
		b = e.group(as)
	}
	if len(p) < len(b) {
		return 0, syscall.ENOSPC
	}
	return copy(p, b), nil
}

// group is what a read returns of a group, whichever of its events is read.
func (e *Event) group(as uint64) []byte {
	members := e.family()
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(members)))
	if times := as & (readEnabled | readRunning); times != 0 {
		b = append(b, members[0].values(nil, true, times)[8:]...)
	}
	for _, m := range members {
		b = m.values(b, false, as)
	}
	return b
}

// Poll implements poll.Source: In if a program has not read all samples.
func (e *Event) Poll() poll.Events { return e.own.Poll() }

// Queue implements poll.Source.
func (e *Event) Queue() *poll.Queue { return e.own.Queue() }

// Close implements vfs.Handle: what the event was attached to, it is no more.
func (e *Event) Close() error {
	e.Enable(false)
	l, p := e.finish()
	if p != nil {
		program.Release(p)
	}
	if l != nil {
		l.Close()
	}
	if e.follower != nil {
		e.follower.close()
	}
	e.ring.Store(nil)
	e.leave()
	return nil
}

// finish lets nothing begin any more, and returns what is to be detached.
func (e *Event) finish() (l link, p *program.Link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l, p = e.link, e.prog
	e.closed, e.link, e.prog = true, nil, nil
	return l, p
}

// leave takes the event out of its group.
func (e *Event) leave() {
	l := e.leader
	if l == e {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.members = slices.DeleteFunc(l.members, func(m *Event) bool { return m == e })
}
