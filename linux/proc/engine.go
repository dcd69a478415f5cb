package proc

import (
	"slices"

	"sonde/kernel/abi"
)

// An Engine receives the events of a process's threads. Each function is called in the
// goroutine of the thread that it is about, with no lock held, and may be nil. Engines are
// called in the order in which they were attached; attaching or detaching an engine during
// an event takes effect with the next event.
//
// Source: Documentation/utrace.txt of the utrace patches for Linux 2.6.
type Engine struct {
	// Clone: t has made a thread, or a process if flags lack CLONE_THREAD, which has not
	// run yet. An engine that is attached to its process now misses no event.
	Clone func(t, child *Thread, flags uint64)
	// Exec: t's process runs another program now.
	Exec func(t *Thread)
	// Exit: t ends, by itself or with its process.
	Exit func(t *Thread, s Status)
	// Enter and Leave are called before and after a system call, whose number is t.Call():
	// the registers hold its arguments, and then its result. A thread that ends in a call
	// does not call Leave.
	Enter, Leave func(t *Thread)
	// Syscall: the program has executed SYSCALL, which has not become a system call yet. If
	// the function returns true, it does not, and no other engine is called.
	Syscall func(t *Thread) (done bool)
	// Signal: t takes a signal. If the function returns true, the signal is dropped, and
	// engines that were attached later are not called.
	Signal func(t *Thread, info abi.Siginfo) (drop bool)
	// Exception: the program caused an exception, which has not become a signal yet; page
	// faults that the kernel handles are not included. If the function returns true, there
	// is no signal, and engines that were attached later are not called.
	Exception func(t *Thread, vector int) (done bool)
	// Away reports whether t is about to execute an instruction at another address than the
	// program's. It executes that instruction before it takes signals or stops.
	Away func(t *Thread) bool
	// End: p has ended; t was its last thread, and its memory is about to be freed.
	End func(t *Thread)
}

// First reports whether e is the first of p's engines that are notified of exceptions.
func (p *Process) First(e *Engine) bool {
	for _, o := range p.attached() {
		if o == e {
			return true
		}
		if o.Exception != nil {
			return false
		}
	}
	return false
}

// Attach lets e receive p's events from now on.
func (p *Process) Attach(e *Engine) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	all := append(slices.Clone(p.attached()), e)
	p.engines.Store(&all)
}

// Detach undoes Attach. A call of e that has begun may still be running.
func (p *Process) Detach(e *Engine) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	p.detach(e)
}

// detach is Detach with mu held.
func (p *Process) detach(e *Engine) {
	all := slices.DeleteFunc(slices.Clone(p.attached()), func(o *Engine) bool { return o == e })
	if len(all) == 0 {
		p.engines.Store(nil)
		return
	}
	p.engines.Store(&all)
}

// Watch attaches e to all processes, including future ones before any of their code runs.
// For a program that the kernel starts, Exec is called.
func (t *Table) Watch(e *Engine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = append(slices.Clone(t.watchers), e)
	for _, p := range t.procs {
		all := append(slices.Clone(p.attached()), e)
		p.engines.Store(&all)
	}
}

// Unwatch undoes Watch.
func (t *Table) Unwatch(e *Engine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = slices.DeleteFunc(slices.Clone(t.watchers), func(o *Engine) bool { return o == e })
	for _, p := range t.procs {
		p.detach(e)
	}
}

// watch attaches the engines that every process has to a new one. mu held.
func (p *Process) watch() {
	if all := p.table.watchers; len(all) > 0 {
		p.engines.Store(&all)
	}
}

// attached returns the engines of p. In most cases there are none, which costs one load.
func (p *Process) attached() []*Engine {
	if all := p.engines.Load(); all != nil {
		return *all
	}
	return nil
}

// tellClone and the functions below call all engines.
func (t *Thread) tellClone(child *Thread, flags uint64) {
	for _, e := range t.process.attached() {
		if e.Clone != nil {
			e.Clone(t, child, flags)
		}
	}
}

func (t *Thread) tellExec() {
	for _, e := range t.process.attached() {
		if e.Exec != nil {
			e.Exec(t)
		}
	}
}

// tellSyscall reports whether an engine has taken a SYSCALL for itself.
func (t *Thread) tellSyscall() (done bool) {
	for _, e := range t.process.attached() {
		if e.Syscall != nil && e.Syscall(t) {
			return true
		}
	}
	return false
}

func (t *Thread) tellEnter() {
	for _, e := range t.process.attached() {
		if e.Enter != nil {
			e.Enter(t)
		}
	}
}

func (t *Thread) tellLeave() {
	engines := t.process.attached()
	if engines == nil || t.leaving || t.dying() {
		return
	}
	for _, e := range engines {
		if e.Leave != nil {
			e.Leave(t)
		}
	}
}

func (t *Thread) tellExit() {
	engines := t.process.attached()
	if engines == nil {
		return
	}
	s := Exited(t.code)
	if !t.leaving {
		s = t.process.Status()
	}
	for _, e := range engines {
		if e.Exit != nil {
			e.Exit(t, s)
		}
	}
}

// tellSignal reports whether an engine has dropped the signal.
func (t *Thread) tellSignal(info abi.Siginfo) (drop bool) {
	return slices.ContainsFunc(t.process.attached(), func(e *Engine) bool { return e.Signal != nil && e.Signal(t, info) })
}

// tellException reports whether an engine has handled the exception.
func (t *Thread) tellException(vector int) (done bool) {
	for _, e := range t.process.attached() { // each hit of a program comes here: a function takes 8 instructions more
		if e.Exception != nil && e.Exception(t, vector) {
			return true
		}
	}
	return false
}

// away reports whether an engine makes t execute an instruction elsewhere.
func (t *Thread) away() bool {
	for _, e := range t.process.attached() {
		if e.Away != nil && e.Away(t) {
			return true
		}
	}
	return false
}

func (t *Thread) tellEnd() {
	for _, e := range t.process.attached() {
		if e.End != nil {
			e.End(t)
		}
	}
}
