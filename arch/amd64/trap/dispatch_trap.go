//go:build tamago

package trap

// Trap context. What handlers may ask about the trap they take.

import (
	"unsafe"

	"sonde/arch/amd64"
)

// A Handler takes one trap. What r is when it returns is what the trap returns to.
//
// Context: trap. Interrupts are off, the stack is the CPU's trap stack.
type Handler func(r *amd64.Regs)

// handlers is indexed by vector; the entry stub calls them.
var handlers [vectors]Handler

// LazyXMM gives #DB and #BP entries that do not save X0-X14. Their handlers must
// from then on leave these registers alone, or call SaveXMM before anything that
// may not. Soft traps never save them.
//
// Context: goroutine, with no probe armed.
func LazyXMM() {
	bp, db := leanAddresses()
	setGate(amd64.VEC_BP, bp)
	setGate(amd64.VEC_DB, db)
	lazy = true
}

// lazy is whether LazyXMM has been called.
var lazy bool

func leanAddresses() (bp, db uintptr)

// SetHandler makes h the handler of vector v.
//
// Context: boot, or while v cannot arrive.
func SetHandler(v uint8, h Handler) { handlers[v] = h }

// interrupts are the handlers of interrupts, by vector.
var interrupts [vectors]Handler

// SetInterrupt makes h the handler of vector v, a device's or another CPU's. While it
// runs, Interrupt tells.
//
// Context: boot, or while v cannot arrive.
func SetInterrupt(v uint8, h Handler) {
	interrupts[v] = h
	handlers[v] = takeInterrupt
}

func takeInterrupt(r *amd64.Regs) {
	c := Self()
	outer := c.interrupt
	c.interrupt = uintptr(unsafe.Pointer(r))
	interrupts[uint8(r.Vector)](r)
	c.interrupt = outer
}

// Interrupt returns where the registers of the interrupt are that this CPU handles, the
// innermost, 0 if it handles none. On one stack, what came later is lower.
//
// Context: trap.
func Interrupt() uintptr { return Self().interrupt }

// SetAll makes h the handler of every vector that has none.
//
// Context: boot.
func SetAll(h Handler) {
	for v := range handlers {
		if handlers[v] == nil {
			handlers[v] = h
		}
	}
}

// Count returns how often vector v arrived on CPU id.
func Count(id int, v uint8) uint64 { return cpus[id].counts[v] }

// Frame is what lies below Regs: see frame_amd64.h.
type Frame struct {
	spill [2]uintptr
	g     unsafe.Pointer
	cpu   uint64
	flags uint32
	saved uint32 // soft traps write 0 with flags
	// probes is what SetProbes gave the CPU.
	probes uintptr
	xmm    [16][16]byte
}

// frameOf returns the frame of r. Safe because: r was made by the entry stub.
func frameOf(r *amd64.Regs) *Frame {
	return (*Frame)(unsafe.Add(unsafe.Pointer(r), -int(unsafe.Sizeof(Frame{}))))
}

// G returns the g the trap interrupted, as a *runtime.g; code of the kernel's
// own boot may have none that means anything.
//
// Context: trap.
func G(r *amd64.Regs) unsafe.Pointer { return frameOf(r).g }

// ID returns the CPU that r's trap was taken on.
//
// Context: trap.
func ID(r *amd64.Regs) int { return int(frameOf(r).cpu & (MaxCPUs - 1)) }

// Probes returns what SetProbes gave the CPU that r's trap was taken on.
//
// Context: trap.
func Probes(r *amd64.Regs) uintptr { return frameOf(r).probes }

// XMM returns the saved X0-X15; changes take effect when the trap returns.
//
// Context: trap.
func XMM(r *amd64.Regs) *[16][16]byte {
	SaveXMM(r)
	return &frameOf(r).xmm
}

// SaveXMM saves X0-X14, to be restored when r's trap returns, unless that has
// been done.
//
// Context: trap.
func SaveXMM(r *amd64.Regs) {
	if frameOf(r).saved == 0 {
		saveLate(r)
	}
}

//go:noescape
func saveLate(r *amd64.Regs)

func unwindAddr() uintptr

// Divert makes r, a trap inside the handling of outer on the same stack, return
// elsewhere than where it came from. Everything that runs above outer is given up,
// *f is called with outer, and outer's trap returns.
//
// Context: trap.
func Divert(r, outer *amd64.Regs, f *func(*amd64.Regs)) {
	r.IP = uint64(unwindAddr())
	r.AX = uint64(uintptr(unsafe.Pointer(outer)))
	r.DX = uint64(**(**uintptr)(unsafe.Pointer(&f)))
	r.SP = r.AX
	r.Flags = amd64.RFLAGS_FIXED
}
