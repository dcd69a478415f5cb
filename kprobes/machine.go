package kprobes

import (
	"reflect"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/printk"
	"sonde/kernel/text"
	"sonde/kprobes/reach"
)

// A machine is all that registering, arming and jumping need of the machine, so
// that they can be tested without one. What traps do is not among it: that needs
// the real one.
type machine struct {
	// code returns the n bytes of code at addr as they are now; nil: not code.
	code func(addr, n uintptr) []byte
	// poke replaces one byte of code.
	poke func(addr uintptr, old, new byte) error
	// sync returns when every CPU executes what was poked at these addresses.
	sync func(poked []uintptr)
	// swap stops all CPUs and writes patches, unless a CPU will go on at an
	// address of which standing is true: then ErrRetry.
	swap func(patches []text.Patch, standing func(ip uintptr) bool) (time.Duration, error)
	// bind fills in a detour whose it is.
	bind func(d *Detour, s *site)
	// write fills memory of the pools, where nothing executes yet.
	write func(addr uintptr, code []byte)
	// quiesce returns when every CPU has been outside all handlers.
	quiesce func()
	// since is the beginning of a grace period; grace is a whole one.
	since func() text.InUse
	grace func()
	// watch makes all CPUs look for handlers that run too long.
	watch func()
	// inHandler tells whether this is trap context; forbid does not return then.
	inHandler func() bool
	forbid    func(what string)

	cpus   int    // how many there are
	memory uint64 // bytes that the kernel may use
	// What the walk of the image says of functions: why fn may not be probed, and
	// whether a handler may change X0-X14.
	blacklisted func(fn kallsyms.Symbol) string
	writesSSE   func(handler any) bool
	noReturn    func(fn kallsyms.Symbol) string // why no return probe can be on fn, "": it can
	guard       *reach.Guard                    // where the answers come from; nil on the host

	slots   *text.Pool // for copies of single instructions, slotSize bytes each
	detours *text.Pool // for detours, DetourSize bytes each
}

const (
	// DetourSize is how much memory a detour gets, in bytes. None is on two pages.
	DetourSize = 1024
)

// mach is the machine; written once, at boot.
var mach machine

// Detours is the memory for detours, which package optprobe gives out.
//
// Context: goroutine.
func Detours() *text.Pool { return mach.detours }

// Slots is the memory for copies of single instructions.
//
// Context: goroutine.
func Slots() *text.Pool { return mach.slots }

// SlotsUsed returns how many slots are in use.
//
// Context: goroutine.
func SlotsUsed() int { return mach.slots.Used() }

// noKprobe are the functions marked with NoKprobe, by name.
var noKprobe []string

// NoKprobe marks a function as one that may not be probed, as Linux's
// NOKPROBE_SYMBOL does. Write it next to the function:
//
//	var _ = kprobes.NoKprobe("sonde/kernel/foo.bar")
//
// A name that no function has, because it is mistyped or the function inlined, is
// reported when the first probe is registered.
//
// Context: package initialization.
func NoKprobe(name string) bool {
	noKprobe = append(noKprobe, name)
	return true
}

// Blacklisted returns every function that may not be probed with the reason, which
// names the calls by which a trap comes to it. A breakpoint in the code that handles
// breakpoints would never end; what that code is, is computed from the calls in the
// image (package reach). Without a machine there is none.
//
// Context: goroutine.
func Blacklisted() map[uint64]string {
	if mach.guard == nil {
		return nil
	}
	return mach.guard.Blacklist(func(err error) { printk.Warn("kprobes: not protected: %s", err.Error()) })
}

// Unprotected returns an error for each name that is to keep probes away, whether
// marked with NoKprobe or in package reach, and that no function has.
//
// Context: goroutine.
func Unprotected() []error { return mach.guard.Unprotected() }

// codeOf returns the address of a function's code, 0 if f is not a function.
func codeOf(f any) uintptr {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return 0
	}
	return v.Pointer()
}
