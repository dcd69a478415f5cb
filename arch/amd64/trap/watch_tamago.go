//go:build tamago

package trap

import (
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
)

// Watch sets what all CPUs will watch. A CPU does so when it has called LoadWatch.
//
// Context: goroutine, one at a time.
// Errors: false if the processor cannot watch that.
func Watch(s *debugreg.Set) bool {
	dr7, ok := s.Encode()
	if !ok {
		return false
	}
	if debugreg.Enabled(dr7) != 0 && !apart { // before any CPU watches: it may be in LoadWatch for what was set before
		apart = true
		stepper = handlers[amd64.VEC_DB]
		handlers[amd64.VEC_DB] = takeDebug
		watchSteps()
	}
	for n := range s {
		atomic.StoreUint64(&armed.addr[n], s[n].Addr)
	}
	atomic.StoreUint64(&armed.dr7, dr7)
	return true
}

// Unwatched makes #DB go straight to the stepping code again, when no CPU watches anything any
// more.
//
// Context: goroutine, after all CPUs have called LoadWatch.
func Unwatched() {
	if debugreg.Enabled(armed.dr7) == 0 && apart {
		unwatchSteps()
		handlers[amd64.VEC_DB] = stepper
		apart = false
	}
}

// watchSteps makes #BP and #DB use the functions of this file.
//
// Context: goroutine, while nothing is watched.
func watchSteps() {
	breaker, usual = onBreakpoint, idt[amd64.VEC_DB].Lo
	usualIDTR = pseudo(uintptr(unsafe.Pointer(idt)), vectors*16-1)
	stepIDTR = pseudo(uintptr(unsafe.Pointer(&stepIDT)), vectors*16-1)
	stepIDT = *idt
	watch, step, real := watchAddresses()
	if !doubles {
		watch = real
	}
	breakEntry, _, _ = leanAddresses()
	stepIDT[amd64.VEC_DB] = amd64.MakeGate(uint64(step), amd64.SelKernelCode, 0, amd64.GateInterrupt, 0)
	onBreakpoint = takeBreakpoint
	gate := amd64.MakeGate(uint64(watch), amd64.SelKernelCode, istDebug, amd64.GateInterrupt, 0)
	atomic.StoreUint64(&idt[amd64.VEC_DB].Lo, gate.Lo) // the rest is the same: the image is in the last 2 GiB
}

// unwatchSteps undoes watchSteps.
func unwatchSteps() {
	atomic.StoreUint64(&idt[amd64.VEC_DB].Lo, usual)
	onBreakpoint = breaker
}
