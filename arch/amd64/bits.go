// Package amd64 holds the processor's encodings as plain numbers: descriptors, control-register and
// page-table bits, exception vectors. It is pure and tested on the host; constants keep the
// spelling of the manual.
//
// Source: Intel SDM vol. 3A, chapters "System Architecture Overview", "Protected-Mode Memory
// Management", "Paging", "Interrupt and Exception Handling"; vol. 3B, "Debug, Branch Profile, TSC";
// vol. 4 for the MSRs.
package amd64

// Bits of CR0.
const (
	CR0_PE = 1 << 0
	CR0_EM = 1 << 2
	CR0_TS = 1 << 3
	CR0_AM = 1 << 18
	CR0_NW = 1 << 29
	CR0_CD = 1 << 30
)

// Bits of CR4.
const (
	CR4_VME      = 1 << 0
	CR4_PVI      = 1 << 1
	CR4_TSD      = 1 << 2
	CR4_DE       = 1 << 3
	CR4_PSE      = 1 << 4
	CR4_MCE      = 1 << 6
	CR4_PGE      = 1 << 7
	CR4_PCE      = 1 << 8
	CR4_OSFXSR   = 1 << 9
	CR4_UMIP     = 1 << 11
	CR4_LA57     = 1 << 12
	CR4_FSGSBASE = 1 << 16
	CR4_OSXSAVE  = 1 << 18
	CR4_SMEP     = 1 << 20
	CR4_SMAP     = 1 << 21
	CR4_PKE      = 1 << 22
)

// Bits of IA32_EFER.
const (
	EFER_SCE = 1 << 0
	EFER_LME = 1 << 8
	EFER_NXE = 1 << 11
)

// Bits of RFLAGS. RFLAGS_FIXED always reads as one.
const (
	RFLAGS_CF    = 1 << 0
	RFLAGS_FIXED = 1 << 1
	RFLAGS_PF    = 1 << 2
	RFLAGS_AF    = 1 << 4
	RFLAGS_ZF    = 1 << 6
	RFLAGS_SF    = 1 << 7
	RFLAGS_TF    = 1 << 8
	RFLAGS_IF    = 1 << 9
	RFLAGS_DF    = 1 << 10
	RFLAGS_OF    = 1 << 11
	RFLAGS_IOPL  = 3 << 12
	RFLAGS_NT    = 1 << 14
	RFLAGS_RF    = 1 << 16
	RFLAGS_VM    = 1 << 17
	RFLAGS_AC    = 1 << 18
	RFLAGS_VIF   = 1 << 19
	RFLAGS_VIP   = 1 << 20
	RFLAGS_ID    = 1 << 21
)

// Bits of XCR0.
const (
	XCR0_X87 = 1 << 0
	XCR0_SSE = 1 << 1
	XCR0_AVX = 1 << 2
)

// MXCSR is the initial value of the SSE control register, for the kernel and programs: all
// exceptions masked. FCW is that of the x87.
const (
	MXCSR = 0x1f80
	FCW   = 0x37f
)

// Bits of a page-table entry. PTE_PS makes an entry of the two middle levels
// map 2 MiB or 1 GiB; in the last level the same bit selects the PAT entry.
const (
	PTE_P    = 1 << 0
	PTE_W    = 1 << 1
	PTE_U    = 1 << 2
	PTE_PWT  = 1 << 3
	PTE_PCD  = 1 << 4
	PTE_A    = 1 << 5
	PTE_D    = 1 << 6
	PTE_PS   = 1 << 7
	PTE_G    = 1 << 8
	PTE_NX   = 1 << 63
	PTE_ADDR = 0x000f_ffff_ffff_f000
)

// Bits of a page fault's error code.
const (
	PF_P = 1 << 0 // set: protection violation; clear: page not present
	PF_W = 1 << 1 // write
	PF_U = 1 << 2 // from user mode
	PF_I = 1 << 4 // instruction fetch
)

// Model-specific registers.
const (
	MSR_APIC_BASE      = 0x1b
	MSR_SYSENTER_CS    = 0x174
	MSR_DEBUGCTL       = 0x1d9
	MSR_PAT            = 0x277
	MSR_X2APIC         = 0x800 // first of the x2APIC registers
	MSR_EFER           = 0xc000_0080
	MSR_STAR           = 0xc000_0081
	MSR_LSTAR          = 0xc000_0082
	MSR_CSTAR          = 0xc000_0083
	MSR_FMASK          = 0xc000_0084
	MSR_FS_BASE        = 0xc000_0100
	MSR_GS_BASE        = 0xc000_0101
	MSR_KERNEL_GS_BASE = 0xc000_0102
)
