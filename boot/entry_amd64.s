// From the loader to Go: 32-bit entries for PVH and Multiboot2, real-mode entry of
// further CPUs, and the way of all into long mode.
//
// Nothing that a loader or the firmware has left in the processor is trusted: control
// registers and flags are written, not changed.
//
// The assembler knows 64-bit code only. In the 32-bit part only instructions
// are used whose encoding means the same in both modes; addresses, which would
// be RIP-relative here and absolute there, are built by ADDR.
//
// Source: Xen "x86/HVM direct boot ABI"; Multiboot2 Specification 2.0, "I386 machine
// state"; Intel SDM vol. 3A, "Switching to Protected Mode" and "Initializing IA-32e Mode".

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "bothmodes_amd64.h"

#define CR0_PE_MP_ET_NE_WP_PG	(1<<0 | 1<<1 | 1<<4 | 1<<5 | 1<<16 | 1<<31)
#define CR4_PAE_PGE_SSE		(1<<5 | 1<<7 | 1<<9 | 1<<10)
#define EFER_LME_NXE		(1<<8 | 1<<11)
#define CPUID1_NEEDED		(1<<4 | 1<<5 | 1<<6 | 1<<9 | 1<<13 | 1<<24 | 1<<25 | 1<<26)	// TSC MSR PAE APIC PGE FXSR SSE SSE2
#define MSR_EFER		0xc0000080
#define MSR_MISC_ENABLE		0x1a0
#define MISC_LIMIT_CPUID	22
#define MISC_NO_NX		(34-32)
#define MSR_FS_BASE		0xc0000100

// A few words of stack, and above them the operand of LGDT: in the first page of the image, after
// the headers, which is not used otherwise. It is writable only without paging.
#define SCRATCH	(const_imagePA + 0xf00)

#define MULTIBOOT2	0x36d76289	// multiboot2.Magic

// here returns to the instruction after the CALL, with its address in AX.
TEXT ·here(SB),NOSPLIT|NOFRAME,$0
	POPQ	AX
	PUSHQ	AX
	RET

// pvhentry: 32-bit protected mode, paging off, BX = hvm_start_info.
TEXT pvhentry(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVL	BX, BP
	JMP	·loaded(SB)

// multibootentry: the same, with BX = boot information, a multiple of 8, and AX = MULTIBOOT2.
TEXT multibootentry(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LEAL	const_viaMultiboot(BX), BP
	CMPL	AX, $MULTIBOOT2
	JEQ	known
	MOVL	$SCRATCH, SP
	XORL	BP, BP // otherwise there is nothing to read
	ADDR(·noLoader, SI)
	JMP	·refuse(SB)
known:
	JMP	·loaded(SB)

// loaded: BP = the loader's information. It maps the first 4 GiB one to one and at directBase, and
// the first two of them at kernelBase, with all access allowed, until Go code has built the kernel's
// tables.
TEXT ·loaded(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVL	$SCRATCH, SP
	CALL	·setFlags<>(SB)
	CALL	·needs(SB)
	ADDR(runtime·bss, DI)		// zero, though firmware may have used it: it does not know of the image
	ADDR(runtime·enoptrbss, CX)
	MOVL	$MULTIBOOT2, -4(CX)	// any number
	CMPL	-4(CX), $MULTIBOOT2
	JNE	small			// there is no memory
	SUBL	DI, CX
	SHRL	$2, CX
	XORL	AX, AX
	REP
	STOSL
	ADDR(·bootTables, DI)
	ADDL	$4095, DI
	ANDL	$~4095, DI
	MOVL	DI, DX
	LEAL	0x1003(DI), AX
	MOVL	AX, (DI)		// PML4[0]
	MOVL	AX, (256*8)(DI)		// of directBase
	LEAL	0x2003(DI), AX
	MOVL	AX, 0x1000(DI)		// PDPT[0..3]
	ADDL	$0x1000, AX
	MOVL	AX, 0x1008(DI)
	ADDL	$0x1000, AX
	MOVL	AX, 0x1010(DI)
	ADDL	$0x1000, AX
	MOVL	AX, 0x1018(DI)
	LEAL	0x6003(DI), AX
	MOVL	AX, (511*8)(DI)		// of kernelBase
	LEAL	0x2003(DI), AX
	MOVL	AX, (0x6000+510*8)(DI)
	ADDL	$0x1000, AX
	MOVL	AX, (0x6000+511*8)(DI)
	LEAL	0x2000(DI), SI
	MOVL	$0x83, AX		// present, writable, 2 MiB
	MOVL	$2048, CX
pde:
	MOVL	AX, (SI)
	ADDL	$8, SI
	ADDL	$0x200000, AX
	SUBL	$1, CX
	JNE	pde
	JMP	·longmode(SB)
small:
	JMP	·small(SB)

// setFlags sets the flags: interrupts off, and none that would change what instructions do, or IRET.
// It turns breakpoints off, for which there is no handler yet; and on Intel's processors an option
// of the firmware's setup that hides NX and most of CPUID from old systems. It loses AX, BX, CX,
// DX, SI, DI.
//
// Source: Intel SDM vol. 4, IA32_MISC_ENABLE.
TEXT ·setFlags<>(SB),NOSPLIT|NOFRAME,$0
	PUSHQ	$2			// the bit that is always one
	POPFQ
	XORL	AX, AX
	BYTE	$0x0f; BYTE $0x23; BYTE $0xf8	// MOVL AX, DR7
	CPUID
	CMPL	BX, $0x756e6547		// "Genu"
	JNE	set
	MOVL	$MSR_MISC_ENABLE, CX
	RDMSR
	MOVL	AX, SI
	MOVL	DX, DI
	BTRL	$MISC_LIMIT_CPUID, AX
	BTRL	$MISC_NO_NX, DX
	CMPL	AX, SI
	JNE	hidden
	CMPL	DX, DI
	JEQ	set
hidden:
	WRMSR
set:
	RET

// needs continues only if the processor has the features that longmode switches on: setting an
// unknown bit would reset it silently. It loses AX, BX, CX, DX.
//
// Source: Intel SDM vol. 2A, "CPUID".
TEXT ·needs(SB),NOSPLIT|NOFRAME,$0
	MOVL	$1, AX
	CPUID
	ANDL	$CPUID1_NEEDED, DX
	CMPL	DX, $CPUID1_NEEDED
	JNE	basics
	MOVL	$0x80000000, AX
	CPUID
	CMPL	AX, $0x80000001
	JCS	bits
	MOVL	$0x80000001, AX
	CPUID
	BTL	$29, DX
	JCC	bits
	BTL	$20, DX
	JCC	nx
	RET
basics:
	ADDR(·noBasics, SI)
	JMP	·refuse(SB)
bits:
	ADDR(·noLongMode, SI)
	JMP	·refuse(SB)
nx:
	ADDR(·noNX, SI)
	JMP	·refuse(SB)

// apentry: the real-mode stub of a further CPU ends here, in 32-bit mode. BP = 0, and the page
// tables are the kernel's.
TEXT ·apentry(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVL	$SCRATCH, SP
	CALL	·setFlags<>(SB)
	XORL	BP, BP
	ADDR(·bootTables, DI)
	ADDL	$4095, DI
	ANDL	$~4095, DI
	JMP	·longmode(SB)

// longmode: DI = CR3, BP = the loader's information, or 0. A bit of CR4 that firmware has left on
// would cause errors later: LA57 changes the form of the tables; PCIDE, SMAP, CET or PKE what they
// allow. With paging on, the scratch words can only be read.
TEXT ·longmode(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVL	$CR4_PAE_PGE_SSE, AX
	MOVL	AX, CR4
	MOVL	DI, CR3
	ADDR(·bootGDT, SI)
	MOVL	$SCRATCH, DI
	MOVW	$23, (DI)
	MOVL	SI, 2(DI)
	LGDT	(DI)
	ADDR(·entry64, SI)
	PUSHQ	$8
	PUSHQ	SI
	MOVL	$MSR_EFER, CX
	XORL	DX, DX
	MOVL	$EFER_LME_NXE, AX
	WRMSR
	MOVL	$CR0_PE_MP_ET_NE_WP_PG, AX
	MOVL	AX, CR0
	BYTE	$0xcb			// far return, 32-bit

// entry64 is the last code that runs where the loader has put it.
TEXT ·entry64(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LEAQ	·upper64(SB), AX	// from where it runs
	MOVQ	$const_kernelBase, BX
	ADDQ	BX, AX
	JMP	AX

// upper64 runs where it is linked, like all else from here on. The descriptors, too, are taken from
// there: the lower half is not mapped for long.
TEXT ·upper64(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LEAQ	·bootGDT(SB), AX
	MOVW	$23, ·bootGDTR(SB)
	MOVQ	AX, ·bootGDTR+2(SB)
	LGDT	·bootGDTR(SB)
	MOVL	$0x10, AX
	MOVW	AX, DS
	MOVW	AX, ES
	MOVW	AX, SS
	XORL	AX, AX
	MOVW	AX, FS
	MOVW	AX, GS
	BYTE	$0xdb; BYTE $0xe3	// FNINIT
	LDMXCSR	·mxcsr(SB)
	TESTL	BP, BP
	JEQ	further
	LEAQ	·bootStack(SB), SP
	ADDQ	$const_bootStackSize, SP
	LEAQ	·bootG(SB), R14
	LEAQ	·bootStack(SB), AX
	MOVQ	AX, 0(R14)		// g.stack.lo
	MOVQ	SP, 8(R14)		// g.stack.hi
	ADDQ	$8192, AX
	MOVQ	AX, 16(R14)		// g.stackguard0
	MOVQ	AX, 24(R14)		// g.stackguard1
	LEAQ	·bootTLS(SB), DI
	CALL	·settls<>(SB)
	CALL	·catch<>(SB)
	SUBQ	$16, SP
	MOVQ	BP, 0(SP)
	XORL	BP, BP
	CALL	·early(SB)
	ADDQ	$16, SP
	JMP	_rt0_tamago_start(SB)
further:
	MOVL	·kernelCR3(SB), AX
	MOVQ	AX, CR3
	MOVQ	·apStack(SB), SP
	MOVQ	·apG(SB), R14
	MOVQ	·apTLS(SB), DI
	CALL	·settls<>(SB)
	LIDT	·bootIDTR(SB)
	CALL	·apMain(SB)
	JMP	0(PC)

// catch makes all exceptions go to caught, on the current stack, until traps can be handled; NMIs
// are ignored. It loses AX, CX, DX, DI.
TEXT ·catch<>(SB),NOSPLIT|NOFRAME,$0
	LEAQ	·caught<>(SB), AX
	MOVL	AX, DX
	ANDL	$0xffff, AX
	ORL	$(8<<16), AX		// low half of the address, code segment
	ANDL	$0xffff0000, DX
	ORL	$0x8e00, DX		// high half, interrupt gate
	LEAQ	·bootIDT(SB), DI
	MOVL	$32, CX
gate:
	MOVL	AX, (DI)
	MOVL	DX, 4(DI)
	MOVL	$-1, 8(DI)		// the rest of the address: it is in the last 2 GiB
	MOVL	$0, 12(DI)
	ADDQ	$16, DI
	SUBL	$1, CX
	JNE	gate
	LEAQ	·dropped<>(SB), AX
	LEAQ	·bootIDT+32(SB), DI		// of vector 2
	MOVW	AX, (DI)
	SHRL	$16, AX
	MOVW	AX, 6(DI)
	LEAQ	·bootIDT(SB), AX
	MOVW	$(32*16-1), ·bootIDTR(SB)
	MOVQ	AX, ·bootIDTR+2(SB)
	LIDT	·bootIDTR(SB)
	RET

// dropped handles an NMI before traps can be handled.
TEXT ·dropped<>(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	IRETQ

// caught finds on its stack an error code or none, IP, CS, and the rest.
TEXT ·caught<>(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	0(SP), AX
	CMPQ	8(SP), $8		// the code segment
	JEQ	known
	MOVQ	8(SP), AX
known:
	LEAQ	·bootG(SB), R14
	XORPS	X15, X15
	XORL	BP, BP
	ANDQ	$~15, SP
	SUBQ	$16, SP
	MOVQ	AX, 0(SP)
	CALL	·earlyException(SB)		// does not return

// settls points FS at the 8 bytes at DI, which get g (R14).
TEXT ·settls<>(SB),NOSPLIT|NOFRAME,$0
	MOVQ	R14, (DI)
	ADDQ	$8, DI
	MOVL	DI, AX
	MOVQ	DI, DX
	SHRQ	$32, DX
	MOVL	$MSR_FS_BASE, CX
	WRMSR
	XORPS	X15, X15
	RET

// cpuinit is the ELF entry point, for loaders that enter in 64-bit mode. There is no such loader
// yet.
TEXT cpuinit(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	$pvhentry(SB), AX // keeps the symbol: the linker sees no other use of it
	MOVQ	$multibootentry(SB), AX
	MOVL	$SCRATCH, SP
	XORL	BP, BP // there is no information from the loader
	ADDR(·noEntry, SI)
	JMP	·refuse(SB)

// func apEntryAddr() uintptr
TEXT ·apEntryAddr(SB),NOSPLIT,$0-8
	MOVQ	$·apentry(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func textStart() uintptr
TEXT ·textStart(SB),NOSPLIT,$0-8
	MOVQ	$runtime·text(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
