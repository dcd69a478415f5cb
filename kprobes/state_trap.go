//go:build tamago

package kprobes

// Trap context. What a CPU is doing for a probe, and how it leaves a handler that breaks
// the rules.

import (
	"strings"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/printk"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// state is one CPU's. Interrupts are off from the breakpoint to the end of the step, so
// nothing else changes it. It holds points and probes as uintptr, because storing a pointer
// needs a write barrier; whoever removes them, with mu held, keeps them alive until every
// CPU has been outside all handlers.
type state struct {
	phase   phase
	running uint32 // of a program: package trap's
	soft    uint64 // number of hits by a jump: distinguishes one from the next
	listed  uint64 // the last of them that went through the list of its point
	handler.State
	point uintptr // the *point hit
	next  uintptr // the **Kprobe of the list that comes next
	// handed is Frame while the hit is handed over, else 0: see handOver.
	handed uintptr

	// The hit at a function's entry has counted the call with this SP and decided its stack
	// check, and the probes on the check's instructions are hit next.
	decided   uintptr
	decidedSP uint64

	flags   uint64 // the interrupted code's TF and IF, while stepping
	fault   uint64 // what ended the emulation: vector, error code, address
	err     uint64
	addr    uint64
	inFault bool // a fault-handler runs for a fault of a handler
	// instance is the *KretprobeInstance an entry handler is called with, else 0.
	instance uintptr

	// What detours and the trampoline need, at a place that they can find; constant.
	id         uint64
	part       uint64 // distance of this CPU's counters, or list of instances, from CPU 0's
	trampoline uintptr
	onDetour   uintptr // addresses of code
	onReturn   uintptr
	onNote     uintptr
	noted      uintptr
}

// phase is where in a hit a CPU is.
type phase uint32

const (
	idle      phase = iota
	pre             // calling pre-handlers
	stepping        // the copy is executed
	emulating       // the instruction is emulated
	post            // calling post-handlers
	faulting        // calling fault-handlers for a fault of the copy
	returning       // calling return handlers
	watching        // no hit: looking for handlers that run too long
	filming         // stepping, and a camera records it
)

// states are in the CPUs' trap.CPU, so that code finds the phase at GS.
var states [trap.MaxCPUs]*state

// This does not compile unless they have room there, and the word that is 0 outside of hits and programs is as package
// trap has it.
const (
	_ = unsafe.Sizeof(trap.State{}) - unsafe.Sizeof(state{})
	_ = -(unsafe.Offsetof(state{}.phase) + unsafe.Offsetof(state{}.running) ^ (trap.OffsetRunning - trap.OffsetState))
)

// busy reports whether the CPU is in a hit. Context: any.
func (st *state) busy() bool { return atomic.LoadUint32((*uint32)(&st.phase)) != uint32(idle) }

// stateOf returns the state of the CPU that took r's trap.
//
// Context: trap. Safe because: it is what initState returned.
func stateOf(r *amd64.Regs) *state {
	p := trap.Probes(r)
	return *(**state)(unsafe.Pointer(&p))
}

// asPoint, asProbe and the like turn a kept address back. Safe because: see state.
func asPoint(p uintptr) *point     { return *(**point)(unsafe.Pointer(&p)) }
func asProbe(p uintptr) *Kprobe    { return *(**Kprobe)(unsafe.Pointer(&p)) }
func asRegs(p uintptr) *amd64.Regs { return *(**amd64.Regs)(unsafe.Pointer(&p)) }

// begin notes that a handler of k starts; end, that it has ended.
func (st *state) begin(k *Kprobe) { st.Begin(uintptr(unsafe.Pointer(k))) }
func (st *state) end()            { st.End() }

// onward is afterAbandon as trap.Divert wants it.
var onward = afterAbandon

// abandon ends the emulation on top of the trap that st is handling; r is a trap in there.
func (st *state) abandon(r *amd64.Regs) {
	trap.Divert(r, asRegs(st.Frame), &onward)
}

// blameProbe is handler.Kind's Blame.
func blameProbe(p uintptr) (h die.Handler, first bool) {
	k := asProbe(p)
	h = die.Handler{Owner: "kprobes", Kind: k.kind.String(), At: k.Addr, Noun: "probe"}
	switch k.kind {
	case kindJprobe:
		h.Code[0] = asJprobe(k).code
	case kindKretprobe:
		h.Code[0], h.Code[1] = k.code(roleEntry), k.code(roleReturn)
	default:
		h.Code[0], h.Code[1], h.Code[2] = k.code(rolePre), k.code(rolePost), k.code(roleFault)
	}
	return h, k.disableForGood()
}

// whileWatching is handler.Kind's Watching: a probe that the watch hits counts as missed.
func whileWatching(id int, on bool) {
	st := states[id]
	switch {
	case on && st.phase == idle:
		st.phase = watching
	case !on && st.phase == watching:
		st.phase = idle
	}
}

// hitOn is handler.Kind's Hit.
func hitOn(id int) uintptr {
	if st := states[id]; st.phase != idle && st.phase != watching {
		return st.Frame
	}
	return 0
}

// afterAbandon continues the hit whose handler, or emulation, was abandoned. It returns from
// the hit's trap.
func afterAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	st := states[id]
	if st.Probe != 0 {
		k := asProbe(st.Probe)
		if st.alone(r) {
			k.ledger.Uncount(id, ledger.Called)
			k.ledger.Count(id, ledger.Entered)
			st.next = asPoint(st.point).behind(k)
		}
		if st.phase == post || st.phase == faulting {
			k.ledger.Uncount(id, ledger.Handled) // the pre-handler's
		}
		k.ledger.CountNested(id, ledger.Abandoned)
		st.inFault = false
		st.end()
		filmAbandoned(id, k, r)
	}
	if st.instance != 0 {
		in := asInstance(st.instance)
		st.instance = 0
		giveBack(in, id)
	}
	mirrorSP[id] = 0
	switch st.phase {
	case pre:
		if filmRest(st, r) {
			break
		}
		st.handOver(r)
		onBreakpoint(r, nil)
	case post:
		filmPosts(st, r)
		st.handOver(r)
		onStep(r)
		filmEnd(id)
	case returning:
		st.afterReturn(id, r)
	case faulting:
		st.phase = idle
		asPoint(st.point).undoStep(r, st.flags)
		refault(r, st)
	case emulating:
		st.emulationFault(asPoint(st.point), r)
	}
	trap.PrepareStep(r)
}

// alone reports whether the code of the hit called a handler itself, by a jump, and did not look at the list.
func (st *state) alone(r *amd64.Regs) bool {
	return st.phase == pre && r.Vector == amd64.VecDetour && st.listed != st.soft
}

// behind returns where in the list of pt the probe after k is, or where the list ends.
func (pt *point) behind(k *Kprobe) uintptr {
	at := pt.list.First()
	for found := false; *at != nil && !found; {
		found = *at == k
		at = (**Kprobe)(unsafe.Add(unsafe.Pointer(at), unsafe.Sizeof(at)))
	}
	return uintptr(unsafe.Pointer(at))
}

// task returns the goroutine that is running, or in a handler the one that the hit
// interrupted; 0 if there is none.
//
// Context: any.
func task() uintptr {
	if g := goruntime.Task(); g != 0 {
		return g
	}
	if st := states[cpu.ID()]; st.Probe != 0 {
		return uintptr(unsafe.Pointer(trap.G(asRegs(st.Frame))))
	}
	return 0
}

// load and store access the interrupted code's memory.
func load(addr uint64) uint64 { return *at(addr) }
func store(addr, v uint64)    { *at(addr) = v }

// at returns addr as a pointer.
// Safe because: the address is what the code's own instruction would use.
func at(addr uint64) *uint64 { return *(**uint64)(unsafe.Pointer(&addr)) }

// stepFlags are the interrupted flags that a single step changes.
const stepFlags = amd64.RFLAGS_TF | amd64.RFLAGS_IF

// Below: handlers that change where execution continues. A crash names the one that did it last, and one
// that cannot have meant what it did is told once. Hits pay for this only if the walk of the image
// says that a handler of theirs may change IP or SP (machine.Machine, Careful).

// A spot is where code continues, and on which stack.
type spot struct{ ip, sp uint64 }

func spotOf(r *amd64.Regs) spot { return spot{r.IP, r.SP} }

// A move is a change of IP or SP by a handler. It has no pointers: storing one needs a write barrier.
type move struct {
	at, code uintptr // the probe's place; the handler's code
	role     role
	kind     kind
	owner    [32]byte // name of the probe's module
	from, to spot
	when     uint64 // TSC; 0: there was none
	told     bool
}

// moves are the last ones, by CPU.
var moves [trap.MaxCPUs]move

// moved notes what a handler of k has changed of r, which was at was. A change of IP counts if the
// handler has said so by what it returned.
func (k *Kprobe) moved(id int, role role, r *amd64.Regs, was spot, ipCounts bool) {
	to := spotOf(r)
	if !ipCounts || k.kind == kindKprobe && role == rolePre && r.Vector == amd64.VecDetour {
		to.ip = was.ip
	}
	if to != was {
		k.noteMove(id, role, r, was, to)
	}
}

// noteMove keeps a move for a crash that may follow.
func (k *Kprobe) noteMove(id int, role role, r *amd64.Regs, was, to spot) {
	if k.kind == kindCamera {
		return // it was a handler that the camera has called, and that is noted
	}
	trap.SaveXMM(r)
	m := &moves[id]
	m.at, m.code, m.role, m.kind = k.Addr, k.code(role), role, k.kind
	m.keep(k.owner, was, to)
}

// WatchMoved keeps the move of a watchpoint's handler, whose code is at code, for a crash that may
// follow: r was at ip with the stack at sp when the handler was called.
//
// Context: trap, with X0-X14 of r saved.
func WatchMoved(at, code uintptr, owner string, r *amd64.Regs, ip, sp uint64) {
	m := &moves[trap.ID(r)]
	m.at, m.code, m.role, m.kind = at, code, roleWatch, kindWatch
	m.keep(owner, spot{ip, sp}, spotOf(r))
}

// keep completes a move that happens now.
func (m *move) keep(owner string, was, to spot) {
	// Not Nanotime: that could not be probed any more.
	m.from, m.to, m.when, m.told = was, to, cpu.Rdtsc(), false
	n := min(len(owner), len(m.owner)-1)
	for i := range n { // copy would keep probes away from memmove
		m.owner[i] = owner[i]
	}
	m.owner[n] = 0
}

// tookOver says once what becomes of a hit whose pre-handler has returned non-zero without effect, or
// without a change of IP.
func (k *Kprobe) tookOver(r *amd64.Regs) {
	if !k.Flags.Set(flagTold) {
		return
	}
	trap.SaveXMM(r)
	name, file, line := where(k.code(rolePre))
	what := "returned non-zero and left IP as it was: the instruction is not executed, execution continues one byte after its beginning"
	if r.Vector == amd64.VecDetour {
		what = "returned non-zero, which has no effect when a jump leads to it; with a post-handler the kprobe stays a breakpoint"
	}
	printk.Warn("kprobes: pre-handler %s (%s:%d) of the kprobe at %s%s%s%s %s",
		name, file, line, die.Symbol(uint64(k.Addr)), moduleWord(k.owner), k.owner, comma(k.owner), what)
}

// where is goruntime.Where with the file as reports show it.
func where(pc uintptr) (function, file string, line int) {
	function, file, line = goruntime.Where(pc)
	return function, strings.TrimPrefix(file, "sonde/"), line
}

// moduleWord stands before the name of a module, if there is one.
func moduleWord(name string) string {
	if name == "" {
		return ""
	}
	return ", module "
}

// comma stands after it.
func comma(name string) string {
	if name == "" {
		return ""
	}
	return ","
}

// near is how far from an SP that a handler has set an access is still due to it, in bytes.
const near = 1 << 16

// blameAt names the handler that has led r on CPU id here, to a fault at addr, once: IP is what it has
// set, or the address or SP is near to the SP that it has set.
func blameAt(id int, r *amd64.Regs, addr uint64) {
	m := &moves[id]
	ip := m.to.ip != m.from.ip && r.IP == m.to.ip
	sp := m.to.sp != m.from.sp && (r.SP-m.to.sp+near < 2*near || addr-m.to.sp+near < 2*near)
	if !m.told && (ip || sp) {
		m.told = true
		accused.Store(int32(id))
		blame(id)
	}
}

// accused is the CPU that blameAt named last: by the time the kernel crashes, the goroutine may be on another one.
var accused atomic.Int32

// blameLast names the handler that may have caused a crash on CPU id: the last that changed IP or SP there or was
// named before.
func blameLast(id int) {
	if a := int(accused.Load()); moves[a].when > moves[id].when {
		id = a
	}
	blame(id)
}

// blame names the handler that was the last on CPU id to change IP or SP.
func blame(id int) {
	m := &moves[id]
	if m.when == 0 {
		return
	}
	name, file, line := where(m.code)
	owner := unsafe.String(&m.owner[0], ownerLen(m))
	by := "kprobes"
	if m.kind == kindWatch {
		by = "kwatch"
	}
	printk.Emerg("%s: %s %s (%s:%d) of the %s at %s%s%s%s changed where execution continues, %d us ago on CPU %d",
		by, m.role.String(), name, file, line, m.kind.noun(), die.Symbol(uint64(m.at)), moduleWord(owner), owner, comma(owner), cpu.Duration(cpu.Rdtsc()-m.when).Microseconds(), id)
	if m.to.ip != m.from.ip {
		printk.Emerg("%s: IP from %#x to %#x", by, m.from.ip, m.to.ip)
	}
	if m.to.sp != m.from.sp {
		printk.Emerg("%s: SP from %#x to %#x", by, m.from.sp, m.to.sp)
	}
}

func ownerLen(m *move) (n int) {
	for m.owner[n] != 0 {
		n++
	}
	return n
}
