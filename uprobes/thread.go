package uprobes

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/probe/handler"
	"sonde/uprobes/machine"
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
	owner    string // the module whose callback it is in
	own      state  // of hits that are handled in the goroutine

	away   *point // it single-steps the copy of this point's instruction
	saved  place.Saved
	dueDB  bool // the program has set TF itself and gets a #DB after the instruction
	waited bool // its goroutine waits for the end of the step, to deliver a signal

	calls callList // its calls that return probes wait for
	code  area     // where the last of them return to
	held  *goCalls // whose calls it notes or ends at present

	wants uint8     // what the hit has to do
	told  told      // the handlers of the hit have been called in trap context
	tied  uint64    // 1 more than the trampoline that hits in trap context know; 0: there are none
	after []*member // members whose post- and fault-handlers wait for the instruction to end

	stored bool   // the last memory access was a write
	again  moment // where an instruction continues that a signal has interrupted: not a new hit
}

// What a hit has to do besides calling handlers and executing the instruction.
const (
	wantsEntry  = 1 << iota // a call begins there, and returns to the trampoline
	wantsStay               // the same, but its exits have points
	wantsExit               // one of these exits
	wantsReturn             // a return instruction of Go
	wantsSkip               // the instruction is skipped
	wantsMore               // the calls have data, an entry handler or a limit
	wantsGo                 // they are a goroutine's, and wantsStay or wantsExit
)

// told says how far a hit has come in trap context that its goroutine has to complete.
type told uint8

const (
	toldNothing told = iota
	toldAll          // the handlers have been called
	toldDecided      // the same, and the stack check's outcome is that it does not grow
)

// moment identifies a moment of the thread well enough to see that it has not moved.
type moment struct{ ip, sp uint64 }

// stackGuard is the offset of the stack limit in Go's g.
const stackGuard = 16

// state is one CPU's, or in the goroutine the thread's. Interrupts are off in a trap, so nothing else changes
// it. What it points to is kept by others for as long as the hit lasts: see docs/decisions.md.
type state struct {
	handler.State // Probe is the member whose handler runs
	machine.Program
	doing  doing
	at     int32   // index of the next instance of call
	list   uintptr // the **member that is the first of the point
	next   uintptr // the one that comes next
	thread uintptr // the *thread that was hit
	point  uintptr // the *point, unless a call returns to the trampoline
	call   uintptr // the *call that has returned
	// in is a *UretprobeInstance for returns of Go functions, which have no call.
	in struct {
		ret  uint64
		rp   uintptr
		data [3]uintptr
	}
}

// doing is which handlers a hit calls.
type doing uint8

const (
	callsNone      doing = iota // all of those that are first have been called
	callsHits                   // those of the point
	callsEntries                // the entry handlers of a call
	callsReturns                // those of a call
	callsGoReturns              // those of a return instruction of Go's
	callsGoExits                // those of a call of a goroutine
	callsAfter                  // those of KprobeUsers, for a hit that has been counted
)

// This does not compile unless state.in is laid out as a UretprobeInstance.
var _ [0]struct{} = [unsafe.Sizeof(UretprobeInstance{}) - unsafe.Sizeof(state{}.in)]struct{}{}

// states is spaced so that no two CPUs write to one cache line.
var states [trap.MaxCPUs]struct {
	state
	_ [256 - unsafe.Sizeof(state{})]byte
}

// asThread, asPoint and asMember turn a kept address back. Safe because: see state.
func asThread(p uintptr) *thread { return *(**thread)(unsafe.Pointer(&p)) }
func asPoint(p uintptr) *point   { return *(**point)(unsafe.Pointer(&p)) }
func asMember(p uintptr) *member { return *(**member)(unsafe.Pointer(&p)) }
func asCall(p uintptr) *call     { return *(**call)(unsafe.Pointer(&p)) }

// keep stores p without a write barrier. Safe because: see docs/decisions.md.
func keep[T any](at **T, p *T) { *(*uintptr)(unsafe.Pointer(at)) = uintptr(unsafe.Pointer(p)) }

// keepSlice is keep for a slice.
func keepSlice[T any](at *[]T, p []T) {
	*(*[3]uintptr)(unsafe.Pointer(at)) = *(*[3]uintptr)(unsafe.Pointer(&p))
}

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
	return newThread(t, x)
}

// newThread makes what is known about t, whose memory has x.
func newThread(t *proc.Thread, x *text) *thread {
	th := &thread{t: t, text: x}
	th.own.thread, th.own.Program = uintptr(unsafe.Pointer(th)), x.program()
	t.Probes = th
	return th
}

// tie lets hits of th be handled in trap context from now on, unless another engine sees them
// before. They find th by its CPU; forget ends that.
func (th *thread) tie() {
	tramp := th.text.trampoline.Load()
	if th.tied == tramp+1 || !th.t.Process().First(engine) {
		return
	}
	th.tied = tramp + 1
	th.calls.reserve()
	returns := uint64(0)
	if tramp != 0 {
		returns = tramp + uint64(len(place.Trampoline))
	}
	th.t.CPU().Probe(uintptr(unsafe.Pointer(th)), returns)
	th.looks()
}

// looks says in which table the entry of #BP is to look. Not while an instruction is to continue that is no new hit: any
// hit ends that. Not in a child of vfork: the probes are its parent's.
func (th *thread) looks() {
	at := unsafe.Pointer(&th.text.breaks)
	if th.tied == 0 || th.again.ip != 0 || th.t.Process() != th.text.process {
		at = nil
	}
	th.t.CPU().Breaks(at)
}

// program accesses the program from goroutines, where the SSE registers are not the program's.
func (x *text) program() machine.Program {
	return machine.Program{
		SaveVectors: func(*amd64.Regs) {},
		LoadWord: func(addr uint64) (uint64, bool) {
			v, err := x.mem.LoadWord(addr)
			return v, err == nil
		},
		LoadPair: func(addr uint64) (uint64, uint64, bool) {
			first, second, err := x.mem.LoadPair(addr)
			return first, second, err == nil
		},
		SwapWord: func(addr, v uint64) (uint64, bool) {
			old, err := x.mem.SwapWord(addr, v)
			return old, err == nil
		},
	}
}

// Current returns the thread whose handler is running, or nil outside of handlers.
func Current() *proc.Thread {
	if th := here(); th != nil {
		return th.t
	}
	return nil
}

// here is Current for this package.
//
// Context: any.
func here() *thread {
	if !mach.InTrap() {
		return handling()
	}
	if st := &states[mach.CPU()].state; st.Probe != 0 {
		return asThread(st.thread)
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

// emulates executes an instruction on r, and reports whether it did: where it would fault, or the
// program's memory is not there, nothing has changed.
//
// Context: trap.
func (th *thread) emulates(p *place.Plan, r *amd64.Regs) bool {
	var v uint64
	if addr, ok := p.Loads(r); ok {
		if v, ok = mach.LoadWord(addr); !ok {
			return false
		}
	}
	w, pushes := p.Pushes(r)
	ip, sp, cx, flags := r.IP, r.SP, r.CX, r.Flags
	ok := true
	if p.Finish(r, v); pushes {
		_, ok = mach.SwapWord(sp-8, w)
	}
	if !ok || r.IP >= user.End {
		r.IP, r.SP, r.CX, r.Flags = ip, sp, cx, flags
		return false
	}
	return true
}
