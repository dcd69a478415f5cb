//go:build tamago

package trap

// Trap context. What handlers can ask about their trap.

import (
	"unsafe"

	"sonde/arch/amd64"
)

// A Handler handles one trap. The trap returns to the state that r has when it returns.
//
// Context: trap. Interrupts are off, the stack is the CPU's trap stack.
type Handler func(r *amd64.Regs)

// handlers is indexed by vector; the entry stub calls them.
var handlers [vectors]Handler

// lazy is whether LazyXMM has been called.
var lazy bool

func leanAddresses() (bp, db, known uintptr)

// SetHandler makes h the handler of vector v.
//
// Context: boot, or while v cannot arrive.
func SetHandler(v uint8, h Handler) { handlers[v] = h }

// onBreakpoint handles #BP.
var onBreakpoint BreakpointHandler

// HandleBreakpoints makes h the handler of #BP.
//
// Context: boot.
func HandleBreakpoints(h BreakpointHandler) {
	onBreakpoint, handlers[vecBP] = h, anyBreakpoint
}

func anyBreakpoint(r *amd64.Regs) { onBreakpoint(r, nil) }

// Known returns where hits call the handler: see Int3.
func Known() uintptr {
	_, _, known := leanAddresses()
	return known
}

// interrupts are the handlers of interrupts, by vector.
var interrupts [vectors]Handler

// SetInterrupt makes h the handler of vector v, a device's or another CPU's. While h runs,
// Interrupt returns its registers.
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

// Interrupt returns the address of the registers of the interrupt that this CPU handles, the
// innermost one, 0 if it handles none. On one stack, the later one is lower.
//
// Context: trap.
func Interrupt() uintptr { return Self().interrupt }

// EndInterrupt is called by code that continues an interrupt after Divert: its handler will not return.
// Interrupts do not nest.
//
// Context: interrupt, after Divert.
func EndInterrupt() { Self().interrupt = 0 }

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

// frameOf returns the frame of r. Safe because: r was made by the entry stub.
func frameOf(r *amd64.Regs) *Frame {
	return (*Frame)(unsafe.Add(unsafe.Pointer(r), -int(unsafe.Sizeof(Frame{}))))
}

// G returns the g that the trap interrupted, as a *runtime.g; early in boot it may have no meaning.
//
// Context: trap.
func G(r *amd64.Regs) unsafe.Pointer {
	g := frameOf(r).g
	return *(*unsafe.Pointer)(unsafe.Pointer(&g)) // Safe because: a g is never freed
}

// ID returns the CPU that r's trap was taken on.
//
// Context: trap.
func ID(r *amd64.Regs) int { return int(frameOf(r).cpu & (MaxCPUs - 1)) }

// Probes returns the value of SetProbes for the CPU that took r's trap.
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

// SaveXMM saves X0-X14, unless that has been done; they are restored when r's trap returns.
//
// Context: trap.
func SaveXMM(r *amd64.Regs) {
	if frameOf(r).saved == 0 {
		saveLate(r)
	}
}

// Saved reports whether X0-X14 have been saved.
//
// Context: trap.
func Saved(r *amd64.Regs) bool { return frameOf(r).saved != 0 }

//go:noescape
func saveLate(r *amd64.Regs)

func unwindAddr() uintptr

// Divert makes r, a trap inside the handling of outer on the same stack, return elsewhere than to
// the interrupted code: everything that runs above outer is discarded, *f is called with outer, and
// outer's trap returns.
//
// Context: trap.
func Divert(r, outer *amd64.Regs, f *func(*amd64.Regs)) {
	r.IP = uint64(unwindAddr())
	r.AX = uint64(uintptr(unsafe.Pointer(outer)))
	r.DX = uint64(**(**uintptr)(unsafe.Pointer(&f)))
	r.SP = r.AX
	r.Flags = amd64.RFLAGS_FIXED
}
