package uprobes

import (
	"sync"

	"sonde/arch/amd64"
	"sonde/kernel/mm/space"
	"sonde/kernel/proc"
	"sonde/uprobes/place"
)

// thread is what this package knows of a thread. Only its own goroutine uses it.
type thread struct {
	t        *proc.Thread
	text     *text
	listed   bool // among running
	handling bool // it is in handlers: what they ask for is queued
	queue    []order
	owner    string  // the module whose callback it is in
	in       *member // whose handler it is in
	counts   bool    // and the handler's end is counted

	away  *point // it single-steps the copy of this one's instruction
	saved place.Saved
	owes  bool // the program has set TF itself, and gets a #DB behind the instruction

	calls callList // that return to the trampoline

	leaving *call // whose handlers are being called

	wants uint8     // what the hit wants: see hit.go
	after []*member // whose post- and fault-handlers wait for the instruction's end

	stored bool  // the last access to memory was to write
	again  state // where an instruction goes on that a signal has interrupted: no new hit
}

// state is enough to tell that a thread is where it was.
type state struct{ ip, sp uint64 }

// running are the threads that have hit a probe, by goroutine: *thread.
var running sync.Map

// of returns what is known of t, nil if nothing of its memory is probed.
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
	mu.Lock()
	x := texts[t.Memory()]
	mu.Unlock()
	if x == nil {
		return nil
	}
	th := &thread{t: t, text: x}
	t.Probes = th
	return th
}

// Current returns the thread whose handler this is, nil outside of handlers.
func Current() *proc.Thread {
	if th := handling(); th != nil {
		return th.t
	}
	return nil
}

// handling returns the thread whose handlers run in this goroutine, nil: none.
func handling() *thread {
	if v, ok := running.Load(goroutine()); ok && v.(*thread).handling {
		return v.(*thread)
	}
	return nil
}

// Regs and what follows make a thread the CPU that package place emulates
// instructions on.
func (th *thread) Regs() *amd64.Regs       { return th.t.Regs() }
func (th *thread) Bases() (fs, gs *uint64) { return th.t.CPU().Bases() }

// Load returns the 8 bytes at addr.
func (th *thread) Load(addr uint64) (uint64, error) {
	th.stored = false
	return th.text.mem.LoadWord(addr)
}

// Store changes them.
func (th *thread) Store(addr, v uint64) error {
	th.stored = true
	_, err := th.text.mem.SwapWord(addr, v)
	return err
}

// Writable reports whether Store would.
func (th *thread) Writable(addr uint64) error {
	th.stored = true
	if err := th.text.mem.Fault(addr, space.Write); err != nil {
		return err
	}
	return th.text.mem.Fault(addr+7, space.Write)
}
