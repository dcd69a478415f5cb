//go:build tamago

package kprobes

// Trap context. What a CPU is doing for a probe, and how it gets out of a
// handler that breaks the rules.

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/probe"
	"sonde/kernel/text"
)

// state is one CPU's. From the breakpoint to the end of the step interrupts
// are off, so nothing else changes it. Sites and probes are kept as uintptr,
// because storing a pointer needs a write barrier; the holders of mu keep them
// alive until every CPU has been outside all handlers.
type state struct {
	phase phase
	soft  uint64  // hits by a jump begun: tells one from the next
	probe uintptr // the *Kprobe whose handler runs, else 0
	seq   uint64  // handlers begun: tells the watch one from the next
	frame uintptr // the *Regs of the trap being handled
	site  uintptr // the *site hit
	next  uintptr // the **Kprobe of the list that comes next
	// handed is frame while the hit is handed over, else 0: see handOver.
	handed uintptr

	// A call was counted at its entry, here, and its stack check decided, with this
	// SP; but there are probes on instructions of the check, which come next.
	decided   uintptr
	decidedSP uint64

	flags   uint64 // the interrupted code's TF and IF, while stepping
	fault   uint64 // what ended the emulation: vector, error code, address
	err     uint64
	addr    uint64
	account uintptr // what a detour counts in: of this CPU and the probe
	inFault bool    // a fault-handler runs for a fault of a handler
	dying   uint64  // seq of the handler last given up: its report may not be
	// instance is the *KretprobeInstance an entry handler is called with, else 0.
	instance uintptr

	// What detours and the trampoline find here, because they have nothing else to
	// find it by; never changed.
	id         uint64
	part       uint64 // how far behind CPU 0's this CPU's account, or list of instances, is
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
)

// states is spaced so that no two CPUs write to one cache line.
var states [trap.MaxCPUs]struct {
	state
	_ [256 - unsafe.Sizeof(state{})]byte
}

// busy reports whether the CPU is in a hit. Context: any.
func (st *state) busy() bool { return atomic.LoadUint32((*uint32)(&st.phase)) != uint32(idle) }

// quiesceHits returns when every CPU has been outside all handlers. A handler that
// a trap called keeps interrupts off, so the interrupt of Sync comes after it; one
// that was called by a jump is waited for.
//
// Context: goroutine.
func quiesceHits() {
	text.Sync()
	for i := range cpu.Num() {
		st := &states[i].state
		for hits := atomic.LoadUint64(&st.soft); st.busy() && atomic.LoadUint64(&st.soft) == hits; {
			runtime.Gosched()
		}
	}
}

// stateOf returns the state of the CPU that r's trap was taken on.
//
// Context: trap. Safe because: it is what initState returned.
func stateOf(r *amd64.Regs) *state {
	p := trap.Probes(r)
	return *(**state)(unsafe.Pointer(&p))
}

// asSite, asProbe and the like turn a kept address back. Safe because: see state.
func asSite(p uintptr) *site       { return *(**site)(unsafe.Pointer(&p)) }
func asProbe(p uintptr) *Kprobe    { return *(**Kprobe)(unsafe.Pointer(&p)) }
func asRegs(p uintptr) *amd64.Regs { return *(**amd64.Regs)(unsafe.Pointer(&p)) }

// HandlerFrame returns where the registers are of the hit whose handler runs on CPU id, as
// an address; 0 for none.
//
// Context: trap, on that CPU.
func HandlerFrame(id int) uintptr {
	if st := &states[id].state; st.probe != 0 {
		return st.frame
	}
	return 0
}

// begin notes that a handler of k is about to run; end that it has.
func (st *state) begin(k *Kprobe) {
	st.seq++
	st.probe = uintptr(unsafe.Pointer(k))
}

func (st *state) end() { st.probe = 0 }

// onward is afterAbandon as trap.Divert wants it.
var onward = afterAbandon

// abandon gives up what runs above the trap that st is handling; r is a trap
// in there.
func (st *state) abandon(r *amd64.Regs) {
	trap.Divert(r, asRegs(st.frame), &onward)
}

// afterAbandon goes on with the hit whose handler, or emulation, was given up. It returns
// from the hit's trap.
func afterAbandon(r *amd64.Regs) {
	id := trap.ID(r)
	st := &states[id].state
	if st.probe != 0 {
		k := asProbe(st.probe)
		if st.phase == post || st.phase == faulting {
			k.ledger.Uncount(id, probe.Handled) // the pre-handler's
		}
		k.ledger.CountNested(id, probe.Abandoned)
		st.inFault = false
		st.end()
	}
	if st.instance != 0 {
		in := asInstance(st.instance)
		st.instance = 0
		giveBack(in, id)
	}
	mirrorSP[id] = 0
	switch st.phase {
	case pre:
		st.handOver(r)
		onBreakpoint(r)
	case post:
		st.handOver(r)
		onStep(r)
	case returning:
		st.afterReturn(id, r)
	case faulting:
		st.phase = idle
		asSite(st.site).undoStep(r, st.flags)
		refault(r, st)
	case emulating:
		st.emulationFault(asSite(st.site), r)
	}
	trap.PrepareStep(r)
}

// task returns the goroutine that is running, or that the hit interrupted whose
// handler is; 0 for none.
//
// Context: any.
func task() uintptr {
	if g := goruntime.Task(); g != 0 {
		return g
	}
	if st := &states[cpu.ID()].state; st.probe != 0 {
		return uintptr(unsafe.Pointer(trap.G(asRegs(st.frame))))
	}
	return 0
}

// load and store reach the interrupted code's memory.
func load(addr uint64) uint64 { return *at(addr) }
func store(addr, v uint64)    { *at(addr) = v }

// at returns addr as a pointer.
// Safe because: the address is what the code's own instruction would use.
func at(addr uint64) *uint64 { return *(**uint64)(unsafe.Pointer(&addr)) }

// stepFlags are what a single step changes of the interrupted flags.
const stepFlags = amd64.RFLAGS_TF | amd64.RFLAGS_IF

// interrupted reports whether an interrupt has come on top of the handler.
func (st *state) interrupted() bool {
	at := trap.Interrupt()
	return at != 0 && at < st.frame
}
