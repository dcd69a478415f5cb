//go:build !nolinux

package kwatch

import (
	"maps"
	"slices"
	"sync"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/grace"
	"sonde/linux/proc"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// A follower watches a variable of a program's file in each process that runs the file: now, or when it executes it,
// or maps it, as a library, or as the child of one that does. Each needs a debug register of its own while it runs,
// since the variable may be elsewhere in each. A process for which there is none is counted as unset.
// It implements attach.Attachment and attach.Selection.
type follower struct {
	place    *attach.Place
	variable *Variable
	table    *proc.Table
	engine   proc.Engine
	unset    ledger.Counter

	mu sync.Mutex // taken before the package's
	// guarded by mu:
	points           map[*proc.Process]*point
	past             ledger.Ledger // of processes that do not run the file any more
	refused          map[*proc.Process]refused
	disabled, closed bool
}

// refused is where a process has the variable, and cannot be watched.
type refused struct {
	memory *proc.Memory
	addr   uintptr
}

// The numbers of the system calls by which a program maps libraries, and drops them.
const mmap, munmap = 9, 11

// follow makes the follower of a place.
//
// Errors: those of FindVariable and of check.
func follow(table *proc.Table, at *attach.Place) (attach.Attachment, error) {
	v, err := FindVariable(*at.Site)
	if err != nil {
		return nil, err
	}
	f := &follower{place: at, variable: v, table: table, points: map[*proc.Process]*point{}, refused: map[*proc.Process]refused{}, disabled: at.Link.Options.Disabled}
	addr := uintptr(v.addr) // what is added to it is whole pages
	model := &point{addr: addr, length: v.length(addr), typ: at.Site.Access, handler: func(*Hit, *amd64.Regs) {}}
	if err := model.check(); err != nil {
		v.Close()
		return nil, err
	}
	at.Where = at.Site.String()
	f.engine.Leave = f.mapped
	f.engine.Exec = func(t *proc.Thread) { f.renew(t.Process()) }
	f.engine.Clone = func(_, child *proc.Thread, flags uint64) {
		if flags&abi.CLONE_THREAD == 0 {
			f.renew(child.Process())
		}
	}
	table.Watch(&f.engine)
	for _, p := range table.Processes() {
		f.renew(p)
	}
	return f, nil
}

// mapped is called when t has made a system call: the file may be mapped now, or no more. What is mapped over the
// variable is no hit, but another value.
func (f *follower) mapped(t *proc.Thread) {
	n, r := t.Call(), t.Regs()
	if n != mmap && n != munmap {
		return
	}
	f.renew(t.Process())
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.points[t.Process()]; w != nil && n == mmap && uint64(w.addr)-r.AX < r.SI {
		w.look()
	}
}

// renew watches the variable in a process where that has the file, and nowhere else.
func (f *follower) renew(p *proc.Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	mem := p.Memory()
	if f.closed || mem == nil {
		return
	}
	old := f.points[p]
	addr, length, err := f.variable.In(p)
	if old != nil {
		if err == nil && old.userOf().memory == mem && old.addr == addr {
			return
		}
		f.drop(old)
	}
	if err != nil { // it runs something else
		delete(f.refused, p)
		return
	}
	at := refused{mem, addr}
	if err := f.set(p, addr, length); err == nil {
		delete(f.refused, p)
	} else if f.refused[p] != at { // counted once, however often it is tried
		maps.DeleteFunc(f.refused, func(p *proc.Process, _ refused) bool { return p.Memory() == nil }) // those that have ended
		f.refused[p] = at
		f.unset.Unset(err)
	}
}

// set registers the watchpoint of a process. f.mu held.
//
// Errors: those of RegisterKwatchUser.
func (f *follower) set(p *proc.Process, addr uintptr, length int) error {
	w := userPoint(p, addr, length, f.place.Site.Access, calling(f.place))
	w.place = f.place
	w.userOf().left = func() { f.left(w) }
	w.disabled.Store(f.disabled)
	if err := there(p, w, true); err != nil { // a library's data is mapped after its code
		return err
	}
	if _, err := register(w); err != nil {
		return err
	}
	f.points[p] = w
	return nil
}

// left is called when a process has ended, or runs another program, which renew may have found first.
func (f *follower) left(w *point) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.points[w.userOf().process] == w {
		f.drop(w)
	}
}

// drop unregisters a watchpoint, and keeps its counts. f.mu held.
func (f *follower) drop(w *point) {
	leaveNow(w).Complete()
	f.past = f.past.Plus(w.accounts.Ledger())
	delete(f.points, w.userOf().process)
}

// leaveNow is leave, which takes mu.
func leaveNow(ps ...*point) grace.Change {
	mu.Lock()
	defer mu.Unlock()
	return leave(ps)
}

// all returns the watchpoints. f.mu held.
func (f *follower) all() []*point { return slices.Collect(maps.Values(f.points)) }

func (f *follower) Detach() grace.Change {
	f.table.Unwatch(&f.engine)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.variable.Close()
	return leaveNow(f.all()...)
}

// Enable is part of attach.Attachment. It cannot fail: of a process in which a handler was abandoned, it is called no
// more.
func (f *follower) Enable(on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disabled = !on
	mu.Lock()
	defer mu.Unlock()
	return enable(slices.DeleteFunc(f.all(), func(p *point) bool { return p.gone.Load() }), on)
}

func (f *follower) Places() []attach.Placed {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.past.Plus(f.unset.Ledger())
	for _, w := range f.points {
		sum = sum.Plus(w.accounts.Ledger())
	}
	return []attach.Placed{{Place: f.place, Way: "by process", Disabled: f.disabled, Ledger: sum}}
}

func (f *follower) Skipped() int { return 0 }

// Summary is part of attach.Selection: what is not seen.
func (f *follower) Summary() string { return Unseen(f.place.Site.Access) }
