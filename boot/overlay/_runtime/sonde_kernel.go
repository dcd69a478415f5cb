package runtime

// What the kernel reads of a g, and its way to what sonde_ret.go and
// sonde_abandon.go keep to themselves.
//
// Why it is here: offsets are the compiler's to say, and only inside the runtime
// can it be asked. Kernel code comes here by package kernel/goruntime alone.

import "unsafe"

// Where in a g something is, in bytes.
const (
	SondeStackLo    = unsafe.Offsetof(g{}.stack) + unsafe.Offsetof(stack{}.lo)
	SondeStackHi    = unsafe.Offsetof(g{}.stack) + unsafe.Offsetof(stack{}.hi)
	SondeStackGuard = unsafe.Offsetof(g{}.stackguard0)
	SondeGoid       = unsafe.Offsetof(g{}.goid)
	SondeCalls      = unsafe.Offsetof(g{}.sondeRet)
)

// SondeStackRoom is by how much a stack's limit is above its end, in bytes.
const SondeStackRoom = stackGuard

// SondeRetInit is sondeRetInit.
func SondeRetInit(trampoline uintptr, dead func(head uintptr)) { sondeRetInit(trampoline, dead) }

// SondeDetoursInit is sondeDetoursInit.
func SondeDetoursInit(lo, hi, size, code, n uintptr) { sondeDetoursInit(lo, hi, size, code, n) }

// SondeAbandon is sondeAbandon.
//
//go:nosplit
//go:nowritebarrierrec
func SondeAbandon(why string) { sondeAbandon(why) }

// SondeTrapReset is sondeTrapReset.
//
//go:nosplit
//go:nowritebarrierrec
func SondeTrapReset(cpu int) { sondeTrapReset(cpu) }
