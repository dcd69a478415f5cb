package runtime

// A probe handler that breaks the rules of trap context must not take the
// machine down.
//
// Why it is here: the runtime is where breaking them is noticed. Where it would
// throw, panic or park on a trap stack's g, take a lock or wake a goroutine, it asks
// the kernel first, by a software interrupt, to abandon the handler; if one was
// running, the interrupt does not return. Nothing has been taken or changed then.

// sondeAbandon abandons the handler that runs on this trap stack, for the reason why. Elsewhere, or
// with no handler running, it does nothing. It is assembly because much calls it: Go would make a
// frame for the call that is never made.
//
//go:noescape
func sondeAbandon(why string)

// sondeAbandonMutex is sondeAbandon for mutexes, which are used most.
func sondeAbandonMutex()

// sondeMutex is the reason that it gives.
var sondeMutex = "uses a mutex"

// sondeRaiseAbandon is INT $0x84 with the reason in AX and BX, and what a panic says in CX
// and DX.
func sondeRaiseAbandon(why, text string)

// SondeTrapReset undoes what a handler that was abandoned left in its m.
//
//go:nosplit
//go:nowritebarrierrec
func SondeTrapReset(cpu int) {
	for i := range sondeTrapM[cpu] {
		mp := &sondeTrapM[cpu][i]
		mp.locks, mp.mallocing, mp.throwing, mp.dying, mp.printlock = 0, 0, throwTypeNone, 0, 0
	}
}
