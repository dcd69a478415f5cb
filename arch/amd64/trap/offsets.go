package trap

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
)

// regs is amd64.Regs for the assembler, which sees only this package's types: regs_AX is the offset
// of AX, regs__size the size.
type regs amd64.Regs

// Vectors with an entry of their own.
const (
	vecBP = amd64.VEC_BP
	vecDB = amd64.VEC_DB
)

const regSize = unsafe.Sizeof(regs{})

// ist1 is where a CPU keeps the stack of most traps, in its TSS.
const ist1 = unsafe.Offsetof(CPU{}.tss) + unsafe.Offsetof(amd64.TSS{}.IST)

const (
	vecNMI = amd64.VEC_NMI
	vecMC  = amd64.VEC_MC

	dr6Fixed = debugreg.DR6_FIXED

	msrFS = amd64.MSR_FS_BASE
	msrGS = amd64.MSR_GS_BASE
)

// kernelMXCSR is the value for handlers: all exceptions masked, as in Go.
var kernelMXCSR uint32 = amd64.MXCSR
