package uprobes

import (
	"sync"

	"sonde/arch/amd64"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/uprobes/place"
)

// thread is what this package knows about a thread. Only the thread's own goroutine uses
// it.
type thread struct {
	t        *proc.Thread
	text     *text
	listed   bool // among running
	handling bool // it is in handlers: their requests are queued
	queue    []order
	owner    string  // the module whose callback it is in
	in       *member // the member whose handler it is in
	counts   bool    // the end of that handler is counted

	away   *point // it single-steps the copy of this point's instruction
	saved  place.Saved
	dueDB  bool // the program has set TF itself and gets a #DB after the instruction
	waited bool // its goroutine waits for the end of the step, to deliver a signal

	calls callList // its calls that return probes wait for
	code  area     // where the last of them return to
	held  *goCalls // whose calls it notes or ends at present

	leaving  *call // the call whose handlers are being called
	entering bool  // it is in an entry handler

	wants uint8     // what the hit has to do: see member.go
	told  told      // the handlers of the hit have been called in trap context
	tied  uint64    // 1 more than the trampoline that hits in trap context know; 0: there are none
	after []*member // members whose post- and fault-handlers wait for the instruction to end

	stored bool   // the last memory access was a write
	again  moment // where an instruction continues that a signal has interrupted: not a new hit
}

// told says how far a hit has come in trap context that its goroutine has to complete.
type told uint8

const (
	toldNothing told = iota
	toldAll          // the handlers have been called
	toldDecided      // the same, and the stack check's outcome is that it does not grow
)

// moment identifies a moment of the thread well enough to see that it has not moved.
type moment struct{ ip, sp uint64 }

// running are the threads that have hit a probe, by goroutine: *thread.
var running sync.Map

// of returns what is known about t, or nil if nothing in its memory is probed.
//
// Context: t's goroutine.
func of(t *proc.Thread) *thread {
	if th, _ := t.Probes.(*thread); th != nil && th.text.mem == t.Memory() {
		return th
	}
	return meet(t)
}

// meet is of for a thread that is seen for the first time, or has called exec.
func meet(t *proc.Thread) *thread {
	x := textOf(t.Memory())
	if x == nil {
		return nil
	}
	th := &thread{t: t, text: x}
	t.Probes = th
	return th
}

// Current returns the thread whose handler is running, or nil outside of handlers.
func Current() *proc.Thread {
	var th *thread
	if mach.InTrap() {
		th = handlingHere()
	} else {
		th = handling()
	}
	if th == nil {
		return nil
	}
	return th.t
}

// handling returns the thread whose handlers run in this goroutine, or nil.
func handling() *thread {
	if v, ok := running.Load(mach.Goroutine()); ok && v.(*thread).handling {
		return v.(*thread)
	}
	return nil
}

// Regs and the methods below make a thread the CPU on which package place emulates
// instructions.
func (th *thread) Regs() *amd64.Regs       { return th.t.Regs() }
func (th *thread) Bases() (fs, gs *uint64) { return th.t.CPU().Bases() }

// Load reads the 8 bytes at addr.
func (th *thread) Load(addr uint64) (uint64, error) {
	th.stored = false
	return th.text.mem.LoadWord(addr)
}

// Store writes them.
func (th *thread) Store(addr, v uint64) error {
	th.stored = true
	_, err := th.text.mem.SwapWord(addr, v)
	return err
}

// Writable returns the error that Store would.
func (th *thread) Writable(addr uint64) error {
	th.stored = true
	if err := th.text.mem.Fault(addr, space.Write); err != nil {
		return err
	}
	return th.text.mem.Fault(addr+7, space.Write)
}
