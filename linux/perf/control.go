package perf

import (
	"fmt"
	"io"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/ring"
)

// What ioctl asks of an event.

// ID is the event's number, which its samples have.
func (e *Event) ID() uint64 { return e.id }

// All calls f for the event and all others of its group, the leader first.
func (e *Event) All(f func(e *Event) error) error {
	for _, m := range e.family() {
		if err := f(m); err != nil {
			return err
		}
	}
	return nil
}

// family is the events of a group, the leader first. Those whose leader is closed are alone, as in Linux.
func (e *Event) family() []*Event {
	l := e.leader
	l.mu.Lock()
	defer l.mu.Unlock()
	if l != e && l.closed {
		return []*Event{e}
	}
	return append([]*Event{l}, l.members...)
}

// SetPeriod sets after how many hits there is a sample.
//
// Errors: EINVAL the event makes none, or is a clock, whose period stays.
func (e *Event) SetPeriod(n uint64) error {
	if n == 0 || n>>63 != 0 || e.period.Load() == 0 || e.clock {
		return refusal.New(syscall.EINVAL, "perf: a period of %d: the event makes no samples, or is a clock", n)
	}
	e.period.Store(n)
	return nil
}

// SetOutput has samples written into another event's ring; nil: into the event's own.
//
// Errors: EINVAL that event counts on another CPU, or is written to another one itself.
func (e *Event) SetOutput(to *Event) error {
	defer e.listen()
	if to == nil || to == e {
		e.ring.Store(e.mine())
		return nil
	}
	if to.cpu != e.cpu || to.cpu < 0 && to.thread != e.thread {
		return refusal.New(syscall.EINVAL, "perf: samples of CPU %d into the ring of CPU %d", e.cpu, to.cpu)
	}
	r := to.mine()
	if r == nil || to.ring.Load() != r || e.mine() != nil {
		return refusal.New(syscall.EINVAL, "perf: an event that is mapped has its own ring, and one that is not has none for others")
	}
	e.ring.Store(r)
	return nil
}

// mine is the event's own ring, nil while it is not mapped.
func (e *Event) mine() *ring.Perf {
	e.memory.mu.Lock()
	defer e.memory.mu.Unlock()
	if e.memory.pages == nil {
		return nil
	}
	return &e.own
}

// Describe implements vfs.Describer. Linux says nothing here.
func (e *Event) Describe(w io.Writer) {
	fmt.Fprintf(w, "perf_type:\t%d\nperf_config:\t%d\nperf_cpu:\t%d\nperf_tid:\t%d\n", e.attr.Type, e.attr.Config, e.cpu, e.tid)
}
