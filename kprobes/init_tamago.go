//go:build tamago

package kprobes

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/goabi"
	"sonde/arch/amd64/prologue"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
	"sonde/kernel/notifier"
	"sonde/kernel/printk"
	"sonde/kernel/stack"
	"sonde/kernel/text"
	"sonde/kprobes/detour"
	"sonde/kprobes/machine"
	"sonde/kprobes/reach"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// What assembly must know of the layouts of this and other packages.
type (
	trapCPU   trap.CPU
	trapFrame trap.Frame
	regs      amd64.Regs
)

const (
	vecReturn = amd64.VecReturn
	vecDetour = amd64.VecDetour
	flagDF    = amd64.RFLAGS_DF
	bitOF     = 11 // of amd64.RFLAGS_OF
	selCode   = amd64.SelKernelCode
	selData   = amd64.SelKernelData
	stackHi   = goruntime.GStackHi
	gGoid     = goruntime.GGoid
	gCalls    = goruntime.GCalls

	stateFrame = unsafe.Offsetof(state{}.State) + unsafe.Offsetof(handler.State{}.Frame)
	stateProbe = unsafe.Offsetof(state{}.State) + unsafe.Offsetof(handler.State{}.Probe)
	stateSeq   = unsafe.Offsetof(state{}.State) + unsafe.Offsetof(handler.State{}.Seq)

	// The layout of a ledger.Accounts, which begins with the address of CPU 0's counters.
	accountN = ledger.AccountCounters
	entered  = ledger.Entered
	handled  = ledger.Handled
	called   = ledger.Called
)

// Immediates in the templates that are replaced by values.
const (
	point_  = detour.MarkPoint
	behind_ = detour.MarkBehind
	resume_ = detour.MarkResume
	where_  = detour.MarkWhere
	late_   = detour.MarkLate
)

// codeAt has the addresses of the assembly that is copied or jumped to.
var codeAt = codeAddrs()

func codeAddrs() (at struct{ detour, note, plain, late, noted, trampoline uintptr })

// handlers is this kind of handlers: see package handler.
var handlers = handler.Kind{Blame: blameProbe, Onward: afterAbandon, Disarm: disarmUnwanted, Faults: true, Watching: whileWatching, Hit: hitOn}

// Init connects this package with the trap layer: #BP and #DB directly, before the notifier
// chain, as on Linux today, because each link of the chain would cost a tenth of a hit;
// other exceptions through the chain. It also connects returns, detours and abandoned
// handlers.
//
// Context: boot, goroutine.
func Init() {
	g := reach.New(kallsyms.Kernel(), func(addr, n uint64) []byte { return original(uintptr(addr), uintptr(n)) })
	g.Word = dataWord
	machine.This = machine.Real(reach.NewGuard(g, noKprobe))
	machine.This.Drain, machine.This.Watch = drainJumps, handler.Watch
	goLean()
	initOthers()
	called := ledger.Settle
	ledger.Settle = func() { // interrupts come in handlers that a jump calls
		if called(); !cpu.InHandler() {
			drainJumps()
		}
	}
	trap.States(initState)
	trap.HandleBreakpoints(onBreakpoint)
	trap.SetHandler(amd64.VEC_DB, onStep)
	handlers.Register(&states[0].State, trap.AreaSize)
	goruntime.ReplaceReturns(trampolinePC, onLeft)
	detour.SetTemplates(codeAt.detour, codeAt.note, codeAt.plain, codeAt.late)
	tellOfCopies()
	notifier.OnFaults(&notifier.Block{Name: "kprobes", Priority: 100, Call: onFault})
	findPerform()
	stack.SetOriginal(OriginalIP)
	die.SetSuspect(blameLast)
	text.SetOriginal(original)
	printk.SetTask(task)
}

// disarmUnwanted disarms the points that no probe wants any more.
func disarmUnwanted() {
	mu.Lock()
	defer mu.Unlock()
	rearmNow(allPoints())
}

// tellOfCopies tells the runtime where detours are and how they begin.
func tellOfCopies() {
	pool := machine.This.Detours
	addr, size := detour.Call.Where() // that of CallsGo is shorter; Note calls nothing
	goruntime.CopiesOf(addr, size, pool.Start(), pool.End(), detour.Size)
}

// proved is where the build leaves whether it has proved HitKeepsSSE: the second word is 1. The first is not
// zero, so that it is in the file.
var proved = [2]uint64{1, 0}

// goLean lets the trap layer leave X0-X14 unsaved if the code of a hit does not change them. The build has
// looked: it takes a fifth of the boot. If a compiler ever breaks that, every trap saves them, and the log
// says so.
func goLean() {
	if proved[1] == 0 {
		if err := machine.This.Guard.Graph().HitKeepsSSE(); err != nil {
			printk.Warn("kprobes: hits save all SSE registers: %s", err.Error())
			return
		}
	}
	lean = true
	trap.LazyXMM()
}

// The table of points is hashed as the entry of #BP expects, and so is what begins them.
var _ [0]struct{} = [trap.HashFactor - ledger.Factor + trap.HashShift - ledger.Shift + unsafe.Offsetof(point{}.trap)]struct{}{}

// Stack checks read the limit at the offset that package prologue expects. If that is
// wrong, this does not compile.
var _ [0]struct{} = [goruntime.GStackGuard - prologue.GuardOffset]struct{}{}

// lean says that the code of a hit does not change X0-X14 (reach.HitKeepsSSE).
var lean bool

// Lean reports whether it has been proved that the code of hits leaves X0-X14 alone.
//
// Context: goroutine, after Init.
func Lean() bool { return lean }

// initState makes s the state of CPU id, and fills in its constant part. Safe because: there is room, see states.
//
// Context: boot, after goLean.
func initState(id int, s *trap.State) {
	st := (*state)(unsafe.Pointer(s))
	states[id] = st
	st.id, st.trampoline = uint64(id), trampolinePC
	st.part = uint64(id) << ledger.AccountShift
	st.noted = codeAt.noted
	st.onDetour, st.onReturn, st.onNote = goabi.CodeOf(onDetour), goabi.CodeOf(onReturn), goabi.CodeOf(onNote)
	if !lean {
		st.onDetour, st.onReturn, st.onNote = goabi.CodeOf(onDetourEager), goabi.CodeOf(onReturnEager), goabi.CodeOf(onNoteEager)
	}
}

// dataWord returns a word of the image's data. Context: goroutine.
func dataWord(addr uint64) (uint64, bool) {
	a := uintptr(addr)
	if a%8 != 0 || !mm.ROData.Contains(a) && !mm.Data.Contains(a) {
		return 0, false
	}
	return load(addr), true
}

// drainJumps returns when every CPU has been outside all handlers that a jump calls. Those that a trap calls have
// interrupts off.
func drainJumps() {
	for i := range cpu.Num() {
		st := states[i]
		for hits := atomic.LoadUint64(&st.soft); st.busy() && atomic.LoadUint64(&st.soft) == hits; {
			runtime.Gosched()
		}
	}
}
