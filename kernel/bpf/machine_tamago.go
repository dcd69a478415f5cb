//go:build tamago

package kbpf

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/paging"
	"sonde/arch/amd64/trap"
	"sonde/kernel/attach"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/grace"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/kernel/text"
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

func writeCode(at uintptr, b []byte) { text.WriteSlot(at, b) }

func inTrap() bool            { return cpu.InHandler() }
func enter(code, arg uintptr) { trap.Enter(code, arg) }

func takeRange(n int) ([]byte, error) { return frame.TakeRange(n) }
func giveRange(mem []byte)            { frame.GiveRange(mem) }

func cpus() int { return cpu.Num() }

//go:nosplit
func irqOff() uint64 { return cpu.IRQOff() }

//go:nosplit
func irqRestore(flags uint64) { cpu.IRQRestore(flags) }

func synchronize() { grace.Synchronize() }

func now() int64 { return cpu.Nanotime() }

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

// current returns the g that was hit, or that the thread of a process runs in. The registers of a hit in a
// process are no trap's; but this CPU stays with its thread.
func current(hit *attach.Hit, cpu int) unsafe.Pointer {
	if hit.MayBlock || hit.Place.Site.Kind == attach.Program {
		g, _ := goruntime.Running(cpu)
		return g
	}
	return trap.G(hit.Regs)
}

func goid(hit *attach.Hit, cpu int) uint64 { return goruntime.Goid(current(hit, cpu)) }

func collector() (phase, ended uint32) { return goruntime.GC() }
