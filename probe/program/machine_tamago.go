//go:build tamago

package program

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/paging"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/grace"
	"sonde/kernel/kthread"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/kernel/stack"
	"sonde/kernel/text"
	"sonde/probe/attach"
	"sonde/probe/task"
)

// What programs and maps need of the machine.

// code is where programs' machine code is.
var code *pool

// Init makes it known what code is a program's.
//
// Context: boot, goroutine.
func Init() {
	code = newPool(mm.Made.Start, mm.Made.End)
	text.SetMade(codeAt)
}

// Where in a g its M is, and in that its goroutine.
const offsetM, offsetCurg = uint32(goruntime.GM), uint32(goruntime.MCurg)

func writeCode(at uintptr, b []byte) { text.WriteSlot(at, b) }

func entering() uintptr { return trap.Entering() }

// call calls code that is a handler, and returns what it leaves in AX. Safe because: handler's are, and that is
// where a function of one word has its result.
func call(at *uintptr, hit *attach.Hit) uint64 {
	return (*(*func(*attach.Hit) uint64)(unsafe.Pointer(&at)))(hit)
}

func takeRange(n int) ([]byte, error) { return frame.TakeRange(n) }
func giveRange(mem []byte)            { frame.GiveRange(mem) }

// frameAt returns the frame of a page of the arena, with a reference for the caller.
func frameAt(mem []byte) (frame.Frame, error) { return frame.At(mem), nil }

// inPrograms reports whether a program maps one of some pages of the arena.
func inPrograms(mem []byte) bool {
	for ; len(mem) > 0; mem = mem[pageSize:] {
		f := frame.At(mem)
		n := frame.Kernel.Refs(f)
		if frame.Kernel.Put(f); n > 2 {
			return true
		}
	}
	return false
}

func cpus() int { return cpu.Num() }

//go:nosplit
func irqOff() uint64 { return cpu.IRQOff() }

//go:nosplit
func irqRestore(flags uint64) { cpu.IRQRestore(flags) }

func synchronize() { grace.Synchronize() }

func now() int64 { return cpu.Nanotime() }

func clock() (base, mul uint64) { return cpu.Clock() }

// readable returns how many of the n bytes at addr, from the first on, are memory of the kernel. Devices
// are none: to read there may do something.
func readable(addr, n uintptr) uintptr {
	if addr+n < addr {
		return 0
	}
	for at := addr &^ (paging.PageSize - 1); at < addr+n; at += paging.PageSize {
		if _, flags, ok := mm.Tables.Lookup(uint64(at)); !ok || flags&amd64.PTE_PCD != 0 {
			return max(at, addr) - addr
		}
	}
	return n
}

// Processes is what programs ask about processes. Each function gets the g for whose process it is asked,
// and runs in trap context, where that g cannot run.
type Processes struct {
	Identify  func(g unsafe.Pointer) (pid, tid int, comm string) // 0: none
	Peek      func(g unsafe.Pointer, dst []byte, addr uint64) int
	Registers func(g unsafe.Pointer) *amd64.Regs // in ring 3; nil: none
	Signal    func(g unsafe.Pointer, n int) bool // false: there is no process that could get it
	Task      func(g unsafe.Pointer) *task.Task  // nil: none
}

// processes is what SetProcesses set.
var processes atomic.Pointer[Processes]

// SetProcesses makes processes known.
//
// Context: boot, goroutine.
func SetProcesses(p Processes) { processes.Store(&p) }

// process returns for which process the code runs that was hit on a CPU.
//
//go:noinline
func process(hit *attach.Hit, cpu int) (pid, tid int, comm string) {
	if p := processes.Load(); p != nil {
		return p.Identify(current(hit, cpu))
	}
	return 0, 0, ""
}

// nameOf returns the name of the kernel's thread that was hit, "": the code is no thread's.
func nameOf(hit *attach.Hit, cpu int) string { return kthread.NameOf(current(hit, cpu)) }

// taskOf returns the thread for which the code runs that was hit; nil: none.
func taskOf(hit *attach.Hit, cpu int) *task.Task {
	if p := processes.Load(); p != nil {
		return p.Task(current(hit, cpu))
	}
	return nil
}

// waiting is how many goroutines wait for the CPU that was hit, or for any.
func waiting(hit *attach.Hit, cpu int) int { return goruntime.Queued(current(hit, cpu)) }

// peek copies n bytes at addr of the memory of the process that was hit, and returns how many are there.
//
//go:noinline
func peek(hit *attach.Hit, cpu int, to unsafe.Pointer, n, addr uintptr) uintptr {
	p := processes.Load()
	if p == nil {
		return 0
	}
	return uintptr(p.Peek(current(hit, cpu), unsafe.Slice((*byte)(to), n), uint64(addr)))
}

// userRegs returns the registers in ring 3 of the thread that was hit in the kernel; nil: none was.
//
//go:noinline
func userRegs(hit *attach.Hit, cpu int) *amd64.Regs {
	if p := processes.Load(); p != nil {
		return p.Registers(current(hit, cpu))
	}
	return nil
}

// signal sends the process that was hit a signal.
//
//go:noinline
func signal(hit *attach.Hit, cpu, n int) bool {
	p := processes.Load()
	return p != nil && p.Signal(current(hit, cpu), n)
}

// kernelStack stores where the kernel was hit, and which calls led there, and returns how many. The runtime
// may use X0-X14 for that, which are those of what was hit.
func kernelStack(hit *attach.Hit, cpu int, pcs []uintptr) int {
	if hit.MayBlock || hit.Place.Site.Kind == attach.Program {
		return 0
	}
	w := walk{uintptr(unsafe.Pointer(hit.Regs)), 0, uintptr(unsafe.Pointer(unsafe.SliceData(pcs))), uintptr(len(pcs))}
	if hit.Place.Site.Stands {
		w.g = uintptr(current(hit, cpu))
	}
	return int(keepingSSE(uintptr(unsafe.Pointer(&w))))
}

// walk is what walkStack is given: registers, a goroutine that may leave its CPU, and room for so many calls.
type walk struct{ regs, g, room, n uintptr }

// keepingSSE returns what walkStack does, and leaves X0-X14 as they are.
func keepingSSE(w uintptr) uintptr

// walkStack fills in a walk. Safe because: it ends before what it is given does.
func walkStack(at uintptr) uintptr {
	w := (*walk)(pointer(at))
	pcs := unsafe.Slice((*uintptr)(pointer(w.room)), w.n)
	if g := pointer(w.g); g != nil {
		if pc, sp := goruntime.Left(g); pc != 0 {
			left := amd64.Regs{IP: uint64(pc), SP: uint64(sp)}
			return uintptr(stack.CallersOf(g, &left, pcs))
		}
	}
	return uintptr(stack.Callers((*amd64.Regs)(pointer(w.regs)), pcs))
}

// current returns the g that was hit, or that the thread of a process runs in. The registers of a hit in a
// process are no trap's; but this CPU stays with its thread. Tracepoints of the scheduler are of the goroutine that it
// works for; nil: for none.
func current(hit *attach.Hit, cpu int) unsafe.Pointer {
	switch {
	case hit.MayBlock || hit.Place.Site.Kind == attach.Program:
		g, _ := goruntime.Running(cpu)
		return g
	case hit.Place.Site.Stands:
		return goruntime.Current(trap.G(hit.Regs))
	}
	return trap.G(hit.Regs)
}

func self() uint64 { return goruntime.Goid(goruntime.Self()) }

func goid(hit *attach.Hit, cpu int) uint64 { return goruntime.Goid(current(hit, cpu)) }

func collector() (phase, ended uint32) { return goruntime.GC() }
