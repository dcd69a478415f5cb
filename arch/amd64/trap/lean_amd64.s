// The entries of #BP and #DB once LazyXMM has been called: X0-X14 are left to the
// handler, and the usual case, a trap on a goroutine's stack, takes the shortest way.
// All else is left to entry. Each vector has its own text, so that what depends on
// the vector is a constant.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "frame_amd64.h"

// BEGIN makes a frame and one register free.
#define BEGIN(vector) \
	PUSHQ	$0; \
	PUSHQ	$vector; \
	TESTB	$3, 24(SP); \
	JNE	program; \
	PUSHQ	R15

// LEAN fills the frame while SP is still on the entry stack, as BEGIN leaves it:
//
//	0 R15  8 vector  16 error  24 IP  32 CS  40 FLAGS  48 SP  56 SS
//
// and then takes the CPU's trap stack, which nothing else can have taken meanwhile:
// interrupts are off, and NMIs have their own. It came from ring 0 and goes back there.
#define LEAN(vector) \
	MOVQ	48(SP), R15; \
	CMPQ	R15, (CPU_stacks+stack_hi)(GS); \
	JLS	within; \
	MOVQ	CPU_fresh(GS), R15; \
	MOVQ	R14, (REGS+regs_R14)(R15); \
	MOVQ	R13, (REGS+regs_R13)(R15); \
	MOVQ	R12, (REGS+regs_R12)(R15); \
	MOVQ	BP, (REGS+regs_BP)(R15); \
	MOVQ	BX, (REGS+regs_BX)(R15); \
	MOVQ	R11, (REGS+regs_R11)(R15); \
	MOVQ	R10, (REGS+regs_R10)(R15); \
	MOVQ	R9, (REGS+regs_R9)(R15); \
	MOVQ	R8, (REGS+regs_R8)(R15); \
	MOVQ	AX, (REGS+regs_AX)(R15); \
	MOVQ	CX, (REGS+regs_CX)(R15); \
	MOVQ	DX, (REGS+regs_DX)(R15); \
	MOVQ	SI, (REGS+regs_SI)(R15); \
	MOVQ	DI, (REGS+regs_DI)(R15); \
	POPQ	(REGS+regs_R15)(R15); \
	POPQ	(REGS+regs_Vector)(R15); \
	POPQ	(REGS+regs_Err)(R15); \
	POPQ	(REGS+regs_IP)(R15); \
	POPQ	(REGS+regs_CS)(R15); \
	POPQ	(REGS+regs_Flags)(R15); \
	POPQ	(REGS+regs_SP)(R15); \
	POPQ	(REGS+regs_SS)(R15); \
	MOVQ	R15, SP; \
	MOVUPS	X15, (XMM+240)(SP); \
	XORPS	X15, X15; \
	CLD; \
	MOVQ	(TLS), AX; \
	MOVL	CPU_ID(GS), BX; \
	MOVQ	CPU_probes(GS), CX; \
	MOVQ	(CPU_stacks+stack_g)(GS), R14; \
	MOVL	$0, SAVED(SP); \
	MOVQ	AX, G(SP); \
	MOVQ	BX, CPUID(SP); \
	MOVQ	CX, PROBES(SP); \
	MOVQ	R14, (TLS); \
	INCQ	(CPU_counts+8*vector)(GS); \
	MOVQ	·handlers+8*vector(SB), DX; \
	LEAQ	REGS(SP), AX; \
	XORL	BP, BP; \
	CALL	(DX); \
	LEAVE(general); \
	IRETQ; \
within: \
	POPQ	R15; \
	JMP	·entry(SB); \
program: \
	SWAPGS; \
	JMP	(CPU_Ring3+Ring3_Trap)(GS)

TEXT ·entryBP(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PCALIGN	$1024			// both on one page
	BEGIN(const_vecBP)
	LEAN(const_vecBP)

TEXT ·entryDB(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	BEGIN(const_vecDB)
	LEAN(const_vecDB)

// DROP returns from a #DB in the frame that BEGIN has made, with vector and error.
#define DROP \
	MOVL	$const_dr6Fixed, R15; \
	MOVQ	R15, DR6; \
	POPQ	R15; \
	ADDQ	$16, SP; \
	IRETQ

// entryWatch is entryDB while something is watched in QEMU.
TEXT ·entryWatch(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	BEGIN(const_vecDB)
	MOVQ	24(SP), R15		// interrupted IP
	SUBQ	·stubs(SB), R15
	CMPQ	R15, $const_page
	JLO	faulted
	LEAN(const_vecDB)
faulted:
	// The first instruction of another entry. QEMU has told of a watched load, although the
	// instruction then caused a page fault: no processor does, and GS may be a program's.
	// The instruction is executed again, and told of then, if the fault is served.
	DROP

// entryWatchReal is entryDB while something is watched on a processor. What MOV SS or POP SS has accessed
// is told of behind the next instruction. If a program has called the kernel by that, it is the first one
// of an entry, and GS is the program's. Nobody is told of such an access: no other program does that.
//
// Source: Intel SDM, volume 3, "Masking Exceptions and Interrupts When Switching Stacks".
TEXT ·entryWatchReal(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	BEGIN(const_vecDB)
	MOVQ	24(SP), R15		// interrupted IP
	CMPQ	R15, ·callEntry(SB)
	JEQ	delayed
	CMPQ	R15, ·breakEntry(SB)
	JEQ	delayed
	SUBQ	·stubs(SB), R15
	CMPQ	R15, $const_page
	JLO	delayed
	LEAN(const_vecDB)
delayed:
	DROP

// func leanAddresses() (bp, db uintptr)
TEXT ·leanAddresses(SB),NOSPLIT,$0-16
	MOVQ	$·entryBP(SB), AX
	MOVQ	AX, bp+0(FP)
	MOVQ	$·entryDB(SB), AX
	MOVQ	AX, db+8(FP)
	RET
