// Package calls attaches links to system calls of programs: sys:openat, ret:sys:open*, 7:sys:*.
//
// They are an engine's events, so a process without an engine pays for one load per call.
// The handlers are called in the thread's goroutine and may block.
package calls

import (
	"sync"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
	linux "sonde/linux/syscall"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// Provider is the attach.Provider of system calls.
type Provider struct{ Table *proc.Table }

// Can is part of attach.Provider.
func (Provider) Can(attach.Kind) attach.Ability {
	return attach.Returns | attach.Entries | attach.Data | attach.Blocks | attach.Patterns | attach.Processes
}

// Attach is part of attach.Provider.
//
// Errors: ENOENT Linux has no such call; ESRCH there is no such process.
func (p Provider) Attach(l *attach.Link, sites []attach.Site) (_ attach.Attachment, c grace.Change, err error) {
	a := &attachment{table: p.Table, link: l}
	a.most = l.Options.Active
	a.idle.L, a.running = &a.mu, map[*proc.Thread]*call{}
	for i := range sites {
		if err := a.add(&sites[i]); err != nil {
			return nil, c, attach.Misplaced(sites[i], err)
		}
	}
	a.disabled.Store(l.Options.Disabled)
	for _, w := range a.watches {
		w.begin()
	}
	return a, c, nil
}

// add finds what a site stands for.
func (a *attachment) add(s *attach.Site) error {
	w, err := a.watch(s.PID, s.Return)
	if err != nil {
		return err
	}
	found := 0
	for n := range linux.Numbers {
		name := linux.Name(n)
		if name == "" || name != Called(s.Symbol) && !(s.Pattern() && kallsyms.Fits(s.Symbol, name)) {
			continue
		}
		found++
		where := attach.Site{Kind: attach.Call, PID: s.PID, Return: s.Return, Symbol: name}
		c := &call{place: &attach.Place{Link: a.link, Site: s, Where: where.String(), Addr: n}}
		w.calls[n] = append(w.calls[n], c)
		a.calls = append(a.calls, c)
	}
	return a.link.Fits(found, "system call")
}

// watch returns what watches calls, or returns, of a process; 0: of all of them.
func (a *attachment) watch(pid int, returns bool) (*watch, error) {
	for _, w := range a.watches {
		if w.pid == pid && w.returns == returns {
			return w, nil
		}
	}
	w := &watch{attachment: a, pid: pid, returns: returns, calls: map[uint64][]*call{}}
	if pid != 0 {
		p, err := a.table.Find(pid)
		if err != nil || p == a.table.Init() {
			return nil, refusal.New(syscall.ESRCH, "there is no process %d", pid)
		}
		w.process = p
	}
	a.watches = append(a.watches, w)
	return w, nil
}

// A watch is the engine of one process, or of all, for calls or for returns.
type watch struct {
	*attachment
	pid     int
	returns bool
	process *proc.Process // nil: all
	calls   map[uint64][]*call
	engine  proc.Engine
}

func (w *watch) begin() {
	if w.returns {
		w.engine = proc.Engine{Enter: w.entered, Leave: w.returned, Exit: w.exit}
	} else {
		w.engine = proc.Engine{Enter: w.hit, Exit: w.exit}
	}
	if w.process == nil {
		w.table.Watch(&w.engine)
	} else {
		w.process.Attach(&w.engine)
	}
}

func (w *watch) end() {
	if w.process == nil {
		w.table.Unwatch(&w.engine)
	} else {
		w.process.Detach(&w.engine)
	}
}

// attachment is a link's part. It implements attach.Attachment.
type attachment struct {
	table   *proc.Table
	link    *attach.Link
	calls   []*call
	watches []*watch
	state
	pending sync.Map // the calls that will return, by thread: []*pending
}

func (a *attachment) Detach() grace.Change { return grace.Change{Then: []func(){a.close}} }

func (a *attachment) close() {
	a.drain() // first: it is the engines that say when a thread has ended in a handler
	for _, w := range a.watches {
		w.end()
	}
	a.pending.Range(func(t, _ any) bool {
		a.forget(t.(*proc.Thread), ledger.Disarmed)
		return true
	})
}

// Enable is part of attach.Attachment.
//
// Errors: EINVAL the handler was abandoned.
func (a *attachment) Enable(on bool) error {
	if on && a.abandoned.Load() {
		return refusal.New(syscall.EINVAL, "calls: enable %s: its handler was abandoned", a.calls[0].place.Where)
	}
	a.disabled.Store(!on)
	return nil
}

func (a *attachment) Places() []attach.Placed {
	list := make([]attach.Placed, len(a.calls))
	for i, c := range a.calls {
		list[i] = attach.Placed{Place: c.place, Way: "call", Disabled: a.disabled.Load() || a.abandoned.Load(), Ledger: c.Ledger()}
	}
	return list
}
