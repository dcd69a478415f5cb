//go:build tamago

package goruntime

import (
	"runtime"
	"unsafe"
)

// TrapG makes the g, as a *runtime.g, on which handlers run on the i-th trap stack
// of CPU cpu, which is [lo, hi).
//
// Context: boot, before the runtime.
func TrapG(cpu, i int, lo, hi uintptr) unsafe.Pointer { return runtime.SondeTrapG(cpu, i, lo, hi) }

// Abandon abandons the probe handler that runs on this trap stack, for the reason
// why, and does not return then. Elsewhere it does nothing.
//
// Context: any.
func Abandon(why string) { runtime.SondeAbandon(why) }

// TrapReset undoes what a handler that was abandoned on CPU cpu left in the
// runtime's state of its trap stacks.
//
// Context: trap, on that CPU.
func TrapReset(cpu int) { runtime.SondeTrapReset(cpu) }

// Sigpanic makes the goroutine g, interrupted by a fault at *pc, panic when it goes
// on, as Linux's signal handler would arrange; *pc and *sp change accordingly. It
// refuses where the runtime could not survive a panic.
//
// Context: trap.
func Sigpanic(g unsafe.Pointer, sig uint32, code, addr uintptr, pc, sp *uintptr) bool {
	return runtime.SondeSigpanic(g, sig, code, addr, pc, sp)
}

// PanicsOnFault reports whether the goroutine g has called debug.SetPanicOnFault.
//
// Context: any, where g cannot run meanwhile, or is the caller's.
func PanicsOnFault(g unsafe.Pointer) bool { return runtime.SondePanicsOnFault(g) }

// Turn returns which turn of its P's the goroutine g has, a number that changes whenever
// one ends, and whether it has been asked to end it; false if g is no goroutine.
//
// Context: trap.
func Turn(g unsafe.Pointer) (turn uint32, asked bool) { return runtime.SondeTurn(g) }

// Expel makes the goroutine g, interrupted at *pc, panic when it continues, because it does
// not end its turn; *pc and *sp change accordingly. It refuses where a goroutine
// could not be preempted.
//
// Context: trap.
func Expel(g unsafe.Pointer, pc, sp *uintptr) bool { return runtime.SondeExpel(g, pc, sp) }

// Callers stores the return addresses of the stack at pc, sp of the interrupted
// g, and returns how many. With inlined, calls that were inlined have one, too.
//
// Context: any but g itself; it allocates nothing.
func Callers(g unsafe.Pointer, pc, sp uintptr, buf []uintptr, inlined bool) int {
	return runtime.SondeCallers(g, pc, sp, buf, inlined)
}

// Where returns the function that the instruction at pc is of, or was inlined from, with
// file and line; "" and 0 for no code of Go's.
//
// Context: any; it allocates nothing.
func Where(pc uintptr) (function, file string, line int) { return runtime.SondeWhere(pc) }

// Object returns where the object of the heap begins that addr is in, and between which sizes in bytes its type is; most is
// 0 if there is none. typ is the address of the type, or of the elements' type, if the heap keeps it. The object may be freed
// meanwhile: typ may be anything.
func Object(addr uintptr) (begin, least, most, typ uintptr) { return runtime.SondeObject(addr) }

// Task returns the goroutine that is running, as an address; 0 for none, as in a trap.
//
// Context: any.
func Task() uintptr { return runtime.SondeTask() }

// ExitContext returns where this CPU's thread called exit, and on which g.
//
// Context: trap on top of that call.
func ExitContext() (ip, sp, bp uint64, g unsafe.Pointer) { return runtime.SondeExitContext() }

// ReplaceReturns tells the runtime of return probes: slots that hold trampoline
// stand for the address in the call that the list in their g names, and left is
// called with the head of a list of calls that have been left.
//
// Context: goroutine, before the first return probe; left runs in any.
func ReplaceReturns(trampoline uintptr, left func(head uintptr)) {
	runtime.SondeRetInit(trampoline, left)
}

// CopiesOf tells the runtime where copies of one function are executed: one every
// size bytes in [lo, hi), of the n bytes at code. The unwinder takes addresses
// in them for the function's.
//
// Context: goroutine, before there is one.
func CopiesOf(code, n, lo, hi, size uintptr) { runtime.SondeDetoursInit(lo, hi, size, code, n) }
