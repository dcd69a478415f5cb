package amd64

import "unsafe"

// Regs is the interrupted context: what Linux calls pt_regs, in its order.
// A handler may change any field; the change takes effect when the trap returns.
type Regs struct {
	R15, R14, R13, R12, BP, BX uint64
	R11, R10, R9, R8           uint64
	AX, CX, DX, SI, DI         uint64
	Vector                     uint64 // exception or interrupt number
	Err                        uint64 // the CPU's error code, 0 where it pushes none
	IP, CS, Flags, SP, SS      uint64 // as the CPU pushed them
}

// General stores the general registers in to by their hardware numbers, as
// ModRM and REX name them.
//
// Context: any.
// Source:  Intel SDM vol. 2, "ModR/M and SIB Bytes".
func (r *Regs) General(to *[16]uint64) {
	to[0], to[1], to[2], to[3] = r.AX, r.CX, r.DX, r.BX
	to[4], to[5], to[6], to[7] = r.SP, r.BP, r.SI, r.DI
	to[8], to[9], to[10], to[11] = r.R8, r.R9, r.R10, r.R11
	to[12], to[13], to[14], to[15] = r.R12, r.R13, r.R14, r.R15
}

// registers are the offsets of the general registers in Regs, by their hardware numbers.
var registers = [16]uintptr{
	unsafe.Offsetof(Regs{}.AX), unsafe.Offsetof(Regs{}.CX), unsafe.Offsetof(Regs{}.DX), unsafe.Offsetof(Regs{}.BX),
	unsafe.Offsetof(Regs{}.SP), unsafe.Offsetof(Regs{}.BP), unsafe.Offsetof(Regs{}.SI), unsafe.Offsetof(Regs{}.DI),
	unsafe.Offsetof(Regs{}.R8), unsafe.Offsetof(Regs{}.R9), unsafe.Offsetof(Regs{}.R10), unsafe.Offsetof(Regs{}.R11),
	unsafe.Offsetof(Regs{}.R12), unsafe.Offsetof(Regs{}.R13), unsafe.Offsetof(Regs{}.R14), unsafe.Offsetof(Regs{}.R15),
}

// Register returns the general register with that hardware number; only the low four bits of the
// number are used.
//
// Context: any.
// Source:  Intel SDM vol. 2, "ModR/M and SIB Bytes".
func (r *Regs) Register(n int8) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(r), registers[n&15])) // Safe because: it is one of r's fields
}
