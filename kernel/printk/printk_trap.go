package printk

// Trap context. Messages come from handlers, interrupts and NMIs as well as
// from goroutines, so nothing on this path allocates or locks, and what
// waits is in owner_trap.go.

import (
	"sync/atomic"

	"sonde/kernel/flight"
)

// Hooks into the machine: set at boot, read through one atomic pointer.
var (
	clockHook atomic.Pointer[func() int64]
	cpuHook   atomic.Pointer[func() int]
)

// log is the one ring of the kernel; static, so that it is there before the
// heap is.
var log ring

// Printk logs a message at the given level. The format has the verbs d i u x X o b c s q v
// p t and %, with width, precision and the flags # 0 - +. Arguments may be integers,
// strings, byte slices, booleans and pointers, also of named types. Their methods are not
// called, so pass err.Error(), not err.
//
// Context: any, NMI included. Does not allocate.
//
//go:noinline
func Printk(level Level, format string, args ...any) {
	if echo(level) {
		return
	}
	var text [maxText]byte
	l := line{b: text[:]}
	l.format(format, args)
	l.finish()
	log.put(level, currentCPU(), now(), &text, l.n)
	emit(0)
}

// Keep formats a message like Printk, but does not show it in this boot: the last hundred
// or so are kept for the next boot to show (package flight). It is for handlers that run
// too often for the log.
//
// Context: any, NMI included. Does not allocate.
//
//go:noinline
func Keep(format string, args ...any) {
	var text [maxText]byte
	l := line{b: text[:]}
	l.format(format, args)
	l.finish()
	flight.Main.Hit(now(), currentCPU(), text[:l.n])
}

// Emerg logs at LevelEmerg. Context: any.
func Emerg(format string, args ...any) { Printk(LevelEmerg, format, args...) }

// Err logs at LevelErr. Context: any.
func Err(format string, args ...any) { Printk(LevelErr, format, args...) }

// Warn logs at LevelWarning. Context: any.
func Warn(format string, args ...any) { Printk(LevelWarning, format, args...) }

// Notice logs at LevelNotice. Context: any.
func Notice(format string, args ...any) { Printk(LevelNotice, format, args...) }

// Info logs at LevelInfo. Context: any.
func Info(format string, args ...any) { Printk(LevelInfo, format, args...) }

// Debug logs at LevelDebug. Context: any.
func Debug(format string, args ...any) { Printk(LevelDebug, format, args...) }

// now reads the clock in ns since boot; 0 while there is none. An indirect
// call of its own, so that the trap check can name it.
//
//go:noinline
func now() int64 {
	if f := clockHook.Load(); f != nil {
		return (*f)()
	}
	return 0
}

// currentCPU returns the number of the CPU this runs on; 0 while unknown.
//
//go:noinline
func currentCPU() int {
	if f := cpuHook.Load(); f != nil {
		return (*f)()
	}
	return 0
}
