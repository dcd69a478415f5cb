package runtime

// What the kernel reads of a g, and its way to what abandons a handler.
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

// SondeStackPreempt is what the limit of a g's stack is while the g is to yield.
const SondeStackPreempt = stackPreempt

// SondeStackRoom is by how much a stack's limit is above its end, in bytes.
const SondeStackRoom = stackGuard

// SondeAbandon is sondeAbandon.
//
//go:nosplit
//go:nowritebarrierrec
func SondeAbandon(why string) { sondeAbandon(why) }
