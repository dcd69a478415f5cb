package uprobes

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/arch/amd64/user"
	"sonde/linux/proc"
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

// A call is a call of a function with return probes. Unless it stays, its return address on
// the stack has been replaced by the trampoline's. A function that ends with a jump to
// another probed function has two calls with one stack slot.
type call struct {
	slot  uint64 // on the stack
	ret   uint64 // the return address that was there, that of the trampoline for the second call with a slot
	stays bool   // the word in the slot is unchanged: the exits have points, or it is no return address
	left  bool   // it has been left, and counted as abandoned
	// trapSafe says that all its handlers may be called in trap context, and that ret is the original.
	trapSafe bool
	of       []instance
	same     *call // among the calls that were left: an older one with this slot
}

// instance is one call of one probe.
type instance struct {
	UretprobeInstance // after the last of a call, its Data is kept for the next one
	m                 *member
}

// callList has the calls of a thread that return probes wait for. They are found by their
// stack slots, so the order in which they return does not matter: coroutines switch stacks.
// Each call and each return takes a few steps, however many calls there are.
//
// A call that longjmp has left is forgotten when its slot holds something else. It counts as
// left, and so as abandoned, as soon as the stack above it is used; if that was another stack and
// the call does return, the count is corrected.
type callList struct {
	stack []call           // no slot is above the one before it; space after the last is reused
	left  map[uint64]*call // those that were left, by slot, the last first
	nleft int
	limit int // number of calls at which the slots of those that were left are checked

	room   int // of mostCalls, what this list has taken
	missed int // calls, since the slots were checked for them
}

// goCalls has the calls of one goroutine. The slots in its list are distances from the stack's upper
// end, as negative numbers.
type goCalls struct {
	g    uint64
	next *goCalls // with the same hash; does not change
	busy atomic.Bool
	callList
}

// goroutines has those of one address space. None is ever taken out: the runtime uses a g again.
type goroutines struct {
	n       atomic.Int32
	buckets [256]atomic.Pointer[goCalls]
}

// area is one of code that calls return to; the zero value has no address.
type area struct{ from, size uint64 }

// areas are those seen last, the last first. Only the slow path takes the time to ask the address space.
type areas [8]area

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

// Regs, with the methods in cpu.go, makes a thread the CPU on which package place emulates instructions.
func (th *thread) Regs() *amd64.Regs { return th.t.Regs() }

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

func (th *thread) list() {
	running.Store(mach.Goroutine(), th)
	th.listed = true
}

// begin is called before handlers. It and finish are small enough to be inlined: under an
// emulator a call costs as much as tens of instructions.
func (th *thread) begin() {
	if !th.listed {
		th.list()
	}
	th.handling = true
}

// finish is called after handlers, and does what they have asked for.
func (th *thread) finish() {
	if th.queue != nil {
		th.carryOut()
	}
	th.handling = false
}

// reserve makes room for calls that push without allocating anything.
func (cs *callList) reserve() {
	if cap(cs.stack) > 0 || !cs.grow(roomCalls) {
		return
	}
	for i := range cs.stack[:roomCalls] {
		cs.stack[:roomCalls][i].of = make([]instance, 0, roomProbes)
	}
}

// forget forgets all calls: the thread ends.
func (cs *callList) forget() {
	for i := range cs.stack {
		cs.stack[i].leave()
	}
	noted.Add(int64(-cs.room))
	*cs = callList{}
}
