//go:build tamago

package goruntime

import (
	"runtime"
	"unsafe"
)

// A Note is what a goroutine sleeps on until it is woken, once. The zero Note is
// ready.
type Note = runtime.SondeNote

// SleepOn blocks until n is woken, or for ns nanoseconds (ns < 0: no limit), and
// reports which.
//
// Context: goroutine, one at a time.
func SleepOn(n *Note, ns int64) bool { return runtime.SondeSleepOn(n, ns) }

// Wake ends the SleepOn of n, or the next one.
//
// Context: any.
func Wake(n *Note) { runtime.SondeWake(n) }

// ClearNote makes a note ready again after it has woken a goroutine.
//
// Context: the goroutine that slept on it.
func ClearNote(n *Note) { runtime.SondeNoteClear(n) }

// Tick is the scheduler's part of a timer interrupt; late is the nanoseconds by
// which it came late.
//
// Context: interrupt.
func Tick() (late int64) { return runtime.SondeTick() }

// TickEvery makes this CPU take a timer interrupt at least every ns nanoseconds; 0:
// only when there is something to do.
//
// Context: interrupts off.
func TickEvery(ns int64) { runtime.SondeTickEvery(ns) }

// Quiet returns how many scheduling points CPU i has passed.
//
// Context: any.
func Quiet(i int) uint64 { return runtime.SondeQuiet(i) }

// Pass says that this CPU is at a scheduling point: the caller is in no handler, no detour and no slot.
func Pass() { runtime.SondePass() }

// Idle reports whether CPU i is halted, how often it has halted, and for how
// many nanoseconds in all.
//
// Context: any.
func Idle(i int) (idle bool, halts uint64, ns int64) { return runtime.SondeIdle(i) }

// YieldAll asks the goroutines that run on other CPUs to yield, which they do at
// their next stack check.
func YieldAll() { runtime.SondeYieldAll() }

// Memory returns the bytes of memory the runtime was given, and has not yet
// taken.
func Memory() (total, free uintptr) { return runtime.SondeMemory() }

// TakeBlock takes n bytes of what the runtime has not yet taken, a power of two, at a
// multiple of n, if at least keep bytes are left then. 0: there are none. They are not
// cleared.
func TakeBlock(n, keep uintptr) uintptr { return runtime.SondeTakeBlock(n, keep) }

// GiveBlock gives a block back.
func GiveBlock(addr, n uintptr) { runtime.SondeGiveBlock(addr, n) }

// Locked reports whether some CPU is in the scheduler of threads, perhaps this one:
// what runs here must not be abandoned then.
//
// Context: any.
func Locked() bool { return runtime.SondeLocked() }

// Wanted returns the address of a number that is not 0 while a thread waits for CPU i:
// ring 3 is not to be entered there then.
func Wanted(i int) uintptr { return uintptr(unsafe.Pointer(runtime.SondeWanted(i))) }

// Bind returns on one of these CPUs, a bit each, one of which there must be, and keeps the
// goroutine on them until it waits or yields.
func Bind(cpus uint32) { runtime.SondeBind(cpus) }

// SetTimer makes this CPU take a timer interrupt when a timer of the running goroutine's
// P is due.
//
// Context: goroutine, about to enter ring 3.
func SetTimer() { runtime.SondeSetTimer() }

// Yield lets others run that are ready, and costs little if there are none.
//
// Context: goroutine, about to enter ring 3.
func Yield() { runtime.SondeYield() }

// GiveWay runs the goroutine that the caller has woken, if there is one, as Linux does when one
// wakes another. It costs little if there is none.
//
// Context: goroutine, about to enter ring 3.
func GiveWay() { runtime.SondeGiveWay() }
