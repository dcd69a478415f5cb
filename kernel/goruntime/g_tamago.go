//go:build tamago

package goruntime

import (
	"runtime"
	"unsafe"
)

// Where in a g something is, in bytes. They are for assembly, which reads a g
// itself; Go code has the functions below.
const (
	GStackHi    = runtime.SondeStackHi    // the stack's top
	GStackGuard = runtime.SondeStackGuard // what a stack check compares SP with
	GGoid       = runtime.SondeGoid       // the goroutine's number
	GCalls      = runtime.SondeCalls      // the head of its list of calls with a replaced return address
	GM          = runtime.SondeM          // its M
	MCurg       = runtime.SondeCurg       // where in an M its goroutine is; there is none in a trap
)

// GUser is where in a g the User is that SetUser was given.
const GUser = runtime.SondeUserOff

// User is what a goroutine in ring 3 has in the processor beyond general registers, and what
// the scheduler does about it. It must begin at a multiple of 64.
type User = runtime.SondeUser

// SetUser says what the calling goroutine has in ring 3, until it ends.
func SetUser(u *User) { runtime.SondeSetUser(u) }

// FXSave returns the address of the code that stores the registers of a User.
func FXSave() uintptr { return runtime.SondeFXSave() }

// SaveX87 stores the registers of the x87 and the upper halves of AVX's, if they are those of u.
//
// Context: the goroutine that u is of, or any while that does not run.
func SaveX87(u *User) { runtime.SondeSaveX87(u) }

// StackPreempt is what the stack check of a g finds that is to yield.
const StackPreempt = runtime.SondeStackPreempt

// StackRoom is what a stack check leaves free above the end of a stack, in bytes.
const StackRoom = runtime.SondeStackRoom

// word is the word at offset off of g. Safe because: g is a *runtime.g, which
// is never freed.
func word(g unsafe.Pointer, off uintptr) *uintptr { return (*uintptr)(unsafe.Add(g, off)) }

// Stack returns the bounds of g's stack.
//
// Context: any, where g cannot run meanwhile.
func Stack(g unsafe.Pointer) (lo, hi uintptr) {
	return *word(g, runtime.SondeStackLo), *word(g, GStackHi)
}

// StackGuard returns what g's stack checks compare SP with.
//
// Context: any.
func StackGuard(g unsafe.Pointer) uintptr { return *word(g, GStackGuard) }

// Goid returns the number of goroutine g, 0 if it is none.
//
// Context: any.
func Goid(g unsafe.Pointer) uint64 {
	if g == nil {
		return 0
	}
	return uint64(*word(g, GGoid))
}

// Thread returns what SetThread was given by the goroutine that g is, or that g serves
// as the stack of its scheduler; nil for none.
//
// Context: any, where g cannot run meanwhile, or is the caller's.
func Thread(g unsafe.Pointer) unsafe.Pointer { return runtime.SondeThread(g) }

// Current returns the goroutine that g is, or that g serves as the stack of its scheduler; nil for none.
//
// Context: any, where g cannot run meanwhile.
func Current(g unsafe.Pointer) unsafe.Pointer { return runtime.SondeCurrent(g) }

// Ended reports whether goroutine g has ended.
//
// Context: any.
func Ended(g unsafe.Pointer) bool { return runtime.SondeEnded(g) }

// Left returns where goroutine g continues, which leaves its CPU or has left it; 0: it runs.
//
// Context: any, where g cannot run meanwhile.
func Left(g unsafe.Pointer) (pc, sp uintptr) { return runtime.SondeLeft(g) }

// ThreadOf returns what SetThread was given by goroutine g, whether or not that runs; nil for none.
//
// Context: any.
func ThreadOf(g unsafe.Pointer) unsafe.Pointer { return runtime.SondeThreadOf(g) }

// Labels returns the labels of the goroutine that g is, or that g serves as the stack of its scheduler; nil for none.
//
// Context: any, where g cannot run meanwhile, or is the caller's.
func Labels(g unsafe.Pointer) unsafe.Pointer { return runtime.SondeLabels(g) }

// WaitReason returns what goroutine g waits for, or did last.
//
// Context: any.
func WaitReason(g unsafe.Pointer) string { return runtime.SondeWaitReason(g) }

// SetThread says what the calling goroutine runs for, until it ends.
func SetThread(thread unsafe.Pointer) { runtime.SondeSetThread(thread) }

// Self returns the current g.
//
// Context: any.
func Self() unsafe.Pointer { return runtime.SondeSelf() }

// Calls returns the head of g's list of calls with a replaced return address.
//
// Context: that of g, or any while g cannot run.
func Calls(g unsafe.Pointer) *uintptr { return word(g, GCalls) }

// GC returns what the collector does (0 nothing, 1 it marks, 2 it ends marking) and how many collections
// have ended.
//
// Context: any.
func GC() (phase, ended uint32) { return runtime.SondeGC() }

// Goroutine reports whether goroutine g runs or wants to, and what it waits for otherwise.
func Goroutine(g unsafe.Pointer) (runs bool, waits string) { return runtime.SondeGoroutine(g) }

// Running returns the goroutine that CPU i runs, nil for none, and what that was told by
// SetThread to run for.
func Running(i int) (g, thread unsafe.Pointer) { return runtime.SondeRunning(i) }

// Queued returns how many goroutines wait for the CPU that runs g, or for any; 0: g does not run.
//
// Context: any, where g cannot run meanwhile.
func Queued(g unsafe.Pointer) int { return runtime.SondeQueued(g) }
