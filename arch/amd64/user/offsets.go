package user

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/arch/amd64/trap"
	"sonde/kernel/goruntime"
)

// Types of other packages for the assembler: see trap/offsets.go.
type (
	regs  amd64.Regs
	cpu   trap.CPU
	ring3 trap.Ring3
	frame trap.Frame
	user  goruntime.User
)

const (
	selKernelCode = amd64.SelKernelCode
	selKernelData = amd64.SelKernelData
	exceptions    = amd64.Exceptions
	pageFault     = amd64.VEC_PF
	debug         = amd64.VEC_DB
	breakpoint    = amd64.VEC_BP
	hashFactor    = trap.HashFactor
	hashShift     = trap.HashShift
	dr6Fixed      = debugreg.DR6_FIXED
	dr6Watched    = debugreg.DR6_B0 | debugreg.DR6_B1 | debugreg.DR6_B2 | debugreg.DR6_B3
	flagTF        = amd64.RFLAGS_TF
	flagsFixed    = amd64.RFLAGS_FIXED
	flagsAccess   = amd64.RFLAGS_FIXED | amd64.RFLAGS_AC
	msrEFER       = amd64.MSR_EFER
	msrFS         = amd64.MSR_FS_BASE
	msrGS         = amd64.MSR_GS_BASE
	sce           = amd64.EFER_SCE
	pge           = amd64.CR4_PGE
	tsd           = amd64.CR4_TSD
)

// The value that leave loads with LDMXCSR.
var kernelMXCSR uint32 = amd64.MXCSR
