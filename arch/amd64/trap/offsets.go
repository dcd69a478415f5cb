package trap

import (
	"unsafe"

	"sonde/arch/amd64"
)

// Offsets in amd64.Regs, for entry_amd64.s: the assembler is told only of this
// package's own types.
const (
	regR15    = unsafe.Offsetof(amd64.Regs{}.R15)
	regR14    = unsafe.Offsetof(amd64.Regs{}.R14)
	regR13    = unsafe.Offsetof(amd64.Regs{}.R13)
	regR12    = unsafe.Offsetof(amd64.Regs{}.R12)
	regBP     = unsafe.Offsetof(amd64.Regs{}.BP)
	regBX     = unsafe.Offsetof(amd64.Regs{}.BX)
	regR11    = unsafe.Offsetof(amd64.Regs{}.R11)
	regR10    = unsafe.Offsetof(amd64.Regs{}.R10)
	regR9     = unsafe.Offsetof(amd64.Regs{}.R9)
	regR8     = unsafe.Offsetof(amd64.Regs{}.R8)
	regAX     = unsafe.Offsetof(amd64.Regs{}.AX)
	regCX     = unsafe.Offsetof(amd64.Regs{}.CX)
	regDX     = unsafe.Offsetof(amd64.Regs{}.DX)
	regSI     = unsafe.Offsetof(amd64.Regs{}.SI)
	regDI     = unsafe.Offsetof(amd64.Regs{}.DI)
	regVector = unsafe.Offsetof(amd64.Regs{}.Vector)
	regErr    = unsafe.Offsetof(amd64.Regs{}.Err)
	regCS     = unsafe.Offsetof(amd64.Regs{}.CS)
	regSP     = unsafe.Offsetof(amd64.Regs{}.SP)
	regIP     = unsafe.Offsetof(amd64.Regs{}.IP)
	regFlags  = unsafe.Offsetof(amd64.Regs{}.Flags)
	regSS     = unsafe.Offsetof(amd64.Regs{}.SS)
)

const regSize = unsafe.Sizeof(amd64.Regs{})

// ist1 is where a CPU keeps the stack of most traps, in its TSS.
const ist1 = unsafe.Offsetof(CPU{}.tss) + unsafe.Offsetof(amd64.TSS{}.IST)
