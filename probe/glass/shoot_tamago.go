//go:build tamago

package glass

// How a frame is filled in. The callers of Shoot have saved X0-X14.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
)

// Shoot begins a frame: who is where, the registers, the stack, the code at IP, and the code at place if
// there is any. It returns nil if there is no room. The caller adds what else the stage has, and calls
// Written.
//
// Context: trap.
func (f *Film) Shoot(r *amd64.Regs, stage Stage, place uintptr) (*Frame, int) {
	out, n := f.Next()
	if out == nil {
		return nil, 0
	}
	out.Time, out.CPU, out.Stage = cpu.Rdtsc(), int32(trap.ID(r)), stage
	out.Goroutine = goruntime.Goid(trap.G(r))
	out.SetRegs(r)
	out.stack(r)
	if copyCode(&out.Text, place) {
		out.Has |= HasText
	}
	if copyCode(&out.Code, uintptr(r.IP)) {
		out.Has |= HasCode
	}
	return out, n
}

// ShootThread is Shoot for a thread that has left ring 3, in its goroutine or where its trap arrives. Its
// code at place is text. r may be nil: the frame has no registers.
func (f *Film) ShootThread(r *amd64.Regs, stage Stage, place uintptr, of Thread) (*Frame, int) {
	out, n := f.Next()
	if out == nil {
		return nil, 0
	}
	out.Time, out.CPU, out.Stage = cpu.Rdtsc(), int32(cpu.ID()), stage
	if !cpu.InHandler() {
		out.Goroutine = goruntime.Goid(goruntime.Self())
	}
	out.PID, out.TID = int32(of.PID), int32(of.TID)
	if r != nil {
		out.SetRegs(r)
		of.fill(out, r, place)
	}
	return out, n
}

// stack copies the words at SP, as far as they are the goroutine's.
func (f *Frame) stack(r *amd64.Regs) {
	lo, hi := goruntime.Stack(trap.G(r))
	sp := uintptr(r.SP)
	if sp < lo || sp >= hi || sp%8 != 0 {
		return
	}
	for i := range min(uintptr(StackWords), (hi-sp)/8) {
		f.Stack[i] = **(**uint64)(unsafe.Pointer(&sp)) // Safe because: it is within a stack.
		f.Words++
		sp += 8
	}
}

// copyCode copies the bytes at addr, and returns false if that is not code.
func copyCode(to *[CodeBytes]byte, addr uintptr) bool {
	end := addr + CodeBytes - 1
	if !(mm.Text.Contains(addr) && mm.Text.Contains(end)) && !(mm.Slots.Contains(addr) && mm.Slots.Contains(end)) {
		return false
	}
	for i := range to {
		to[i] = **(**byte)(unsafe.Pointer(&addr)) // Safe because: code is mapped for good.
		addr++
	}
	return true
}
