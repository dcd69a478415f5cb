//go:build tamago

package user

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
)

// A Hit handles what has happened to a program in ring 3, on CPU id, with what Probe was given. r are
// the Context's registers, and have a trap's frame. If it returns true, the program continues with them,
// which FixUp has made valid; if false, Run returns with the event in r.Vector.
//
// Context: trap, on the CPU's trap stack, with interrupts off.
type Hit func(r *amd64.Regs, thread uintptr, id int) (done bool)

// BreakHit is Hit for a breakpoint. at is its *Break; 0: it was not looked for far enough, and there may be none.
type BreakHit func(r *amd64.Regs, thread uintptr, id int, at uintptr) (done bool)

// What hits call: see SetHits.
var (
	onBreak            BreakHit
	onHit, onAbandoned Hit
)

// SetHits sets what handles breakpoints, other hits, and what continues with one that AbandonHit has ended.
//
// Context: boot, before the first Probe.
func SetHits(breakpoint BreakHit, hit, abandoned Hit) {
	onBreak, onHit, onAbandoned = breakpoint, hit, abandoned
}

func breakAddresses() (from, known uintptr)

// Known returns where breakpoints call the handler: see Break.
func Known() uintptr {
	_, known := breakAddresses()
	return known
}

func abandonedAt() uintptr

// AbandonHit makes r, a trap inside the hit of this CPU, return to what SetHits has set: all that runs
// above the hit is discarded.
//
// Context: trap.
func AbandonHit(r *amd64.Regs) {
	r.IP, r.SP, r.Flags = uint64(abandonedAt()), uint64(trap.Self().Ring3.HitStack), amd64.RFLAGS_FIXED
}

// takeMXCSR saves MXCSR in the Context of r, and loads the kernel's.
//
//go:noescape
func takeMXCSR(r *amd64.Regs)

// SaveVectors saves X0-X14 and MXCSR of the program that was hit, for a handler that may change them.
//
// Context: a Hit.
func SaveVectors(r *amd64.Regs) {
	if !trap.Saved(r) {
		trap.SaveXMM(r)
		takeMXCSR(r)
	}
}

// LoadWord returns the 8 bytes at addr of the program that was hit. Not ok: its page is not there.
//
// Context: a Hit.
//
//go:noescape
func LoadWord(addr uint64) (v uint64, ok bool)

// LoadPair is LoadWord for two adjacent words.
//
// Context: a Hit.
//
//go:noescape
func LoadPair(addr uint64) (first, second uint64, ok bool)

// SwapWord replaces the 8 bytes at addr, and returns the old ones. Not ok: its page is not there, or
// the program must not write to it before the kernel has looked; nothing has changed.
//
// Context: a Hit.
//
//go:noescape
func SwapWord(addr, v uint64) (old uint64, ok bool)

// What a page fault in one of these leads to: they return false.

//go:noescape
func loadFails(addr uint64) (v uint64, ok bool)

//go:noescape
func loadPairFails(addr uint64) (first, second uint64, ok bool)

//go:noescape
func swapFails(addr, v uint64) (old uint64, ok bool)

// accesses are where LoadWord, LoadPair and SwapWord begin, each with where it continues after a fault.
var accesses = accessAddresses()

func accessAddresses() [6]uintptr

// FixFault lets LoadWord or its kin return if r is the page fault of one of them.
//
// Context: trap.
func FixFault(r *amd64.Regs) bool {
	for i := 0; i < len(accesses); i += 2 {
		if ip := uintptr(r.IP); ip >= accesses[i] && ip < accesses[i+1] {
			r.IP = uint64(accesses[i+1])
			return true
		}
	}
	return false
}
