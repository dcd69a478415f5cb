package perf

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/printk"
	"sonde/linux/proc"
)

// A follower has an event count in more threads than its own. It is an engine of their processes: it enables the event
// when the first one runs another program (enable_on_exec), and adds the threads and processes that those that count
// make (inherit).
type follower struct {
	event   *Event
	engine  proc.Engine
	waiting atomic.Bool // for the other program

	// tids are those that count, sorted, for hits. The list does not change; another one takes its place.
	tids atomic.Pointer[[]uint32]

	mu sync.Mutex
	// guarded by mu:
	threads   []*proc.Thread
	processes []*proc.Process // that the engine is attached to
	past      time.Duration   // that threads have used that have ended
	closed    bool
}

// follow begins to follow the event's thread, if its attributes ask for that.
func (e *Event) follow() {
	if e.thread == nil || !e.attr.has(flagInherit) && !e.attr.has(flagEnableOnExec) {
		return
	}
	f := &follower{event: e}
	f.waiting.Store(e.attr.has(flagEnableOnExec))
	f.engine = proc.Engine{Exec: f.exec, Exit: f.exit}
	if e.attr.has(flagInherit) {
		f.engine.Clone = f.clone
	}
	e.follower = f
	f.add(e.thread)
}

// add has a thread count.
func (f *follower) add(t *proc.Thread) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.threads = append(f.threads, t)
	f.list()
	if p := t.Process(); !slices.Contains(f.processes, p) {
		f.processes = append(f.processes, p)
		p.Attach(&f.engine)
	}
}

// list makes the list for hits. Called with mu held.
func (f *follower) list() {
	tids := make([]uint32, 0, len(f.threads))
	for _, t := range f.threads {
		tids = append(tids, uint32(t.TID))
	}
	slices.Sort(tids)
	f.tids.Store(&tids)
}

func (f *follower) has(t *proc.Thread) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.threads, t)
}

// clone is called when a thread makes another one.
func (f *follower) clone(t, child *proc.Thread, _ uint64) {
	if f.has(t) {
		f.add(child)
	}
}

// exec is called when a process runs another program.
func (f *follower) exec(t *proc.Thread) {
	if t.Process() != f.event.thread.Process() || !f.waiting.CompareAndSwap(true, false) {
		return
	}
	if err := f.event.Enable(true); err != nil {
		printk.Warn("perf: event %d is not enabled: %s", f.event.id, err.Error())
	}
}

// exit is called when a thread ends. The last one's process ends as well.
func (f *follower) exit(t *proc.Thread, _ proc.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := slices.Index(f.threads, t); at >= 0 {
		f.past += spent(t)
		f.threads = slices.Delete(f.threads, at, at+1)
		f.list()
		if p := t.Process(); !slices.ContainsFunc(f.threads, func(o *proc.Thread) bool { return o.Process() == p }) {
			f.processes = slices.DeleteFunc(f.processes, func(o *proc.Process) bool { return o == p })
			p.Detach(&f.engine)
		}
	}
}

// spent is how long a thread has run.
func spent(t *proc.Thread) time.Duration { return t.Usage().CPU() }

// used is how long the threads that count have run.
func (f *follower) used() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.past
	for _, t := range f.threads {
		sum += spent(t)
	}
	return sum
}

// close ends what follow began.
func (f *follower) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, p := range f.processes {
		p.Detach(&f.engine)
	}
	f.processes, f.threads = nil, nil
}
