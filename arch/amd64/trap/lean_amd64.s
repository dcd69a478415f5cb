// The entries of #BP and #DB once LazyXMM has been called: X0-X14 are left to the
// handler, and the usual case, a trap on a goroutine's stack, takes the shortest way.
// All else is left to entry. Each vector has its own text, so that what depends on
// the vector is a constant.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "frame_amd64.h"

// BEGIN makes two registers free. The entry stack is then:
//
//	0 R13  8 R15  16 IP  24 CS  32 FLAGS  40 SP  48 SS
#define BEGIN \
	TESTB	$3, 8(SP); \
	JNE	program; \
	PUSHQ	R15; \
	PUSHQ	R13

// LEAN fills the frame while SP is still on the entry stack, as BEGIN leaves it, and then takes
// the CPU's trap stack, which nothing else can have taken meanwhile: interrupts are off, and NMIs
// have their own. It came from ring 0 and goes back there. The handler gets R15 as well.
#define LEAN(vector, handler) \
	MOVQ	40(SP), R13; \
	CMPQ	R13, (CPU_stacks+stack_hi)(GS); \
	JLS	within; \
	MOVQ	CPU_fresh(GS), R13; \
	MOVQ	R14, (REGS+regs_R14)(R13); \
	MOVQ	R12, (REGS+regs_R12)(R13); \
	MOVQ	BP, (REGS+regs_BP)(R13); \
	MOVQ	BX, (REGS+regs_BX)(R13); \
	MOVQ	R11, (REGS+regs_R11)(R13); \
	MOVQ	R10, (REGS+regs_R10)(R13); \
	MOVQ	R9, (REGS+regs_R9)(R13); \
	MOVQ	R8, (REGS+regs_R8)(R13); \
	MOVQ	AX, (REGS+regs_AX)(R13); \
	MOVQ	CX, (REGS+regs_CX)(R13); \
	MOVQ	DX, (REGS+regs_DX)(R13); \
	MOVQ	SI, (REGS+regs_SI)(R13); \
	MOVQ	DI, (REGS+regs_DI)(R13); \
	MOVQ	$vector, (REGS+regs_Vector)(R13); \
	MOVQ	$0, (REGS+regs_Err)(R13); \
	POPQ	(REGS+regs_R13)(R13); \
	POPQ	(REGS+regs_R15)(R13); \
	POPQ	(REGS+regs_IP)(R13); \
	POPQ	(REGS+regs_CS)(R13); \
	POPQ	(REGS+regs_Flags)(R13); \
	POPQ	(REGS+regs_SP)(R13); \
	POPQ	(REGS+regs_SS)(R13); \
	MOVQ	R13, SP; \
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
	MOVQ	handler, DX; \
	LEAQ	REGS(SP), AX; \
	MOVQ	R15, BX; \
	XORL	BP, BP; \
	CALL	(DX); \
	LEAVE(general); \
	IRETQ; \
within: \
	POPQ	R13; \
	POPQ	R15; \
	PUSHQ	$0; \
	PUSHQ	$vector; \
	JMP	·entry(SB)

// PROGRAM passes a trap from ring 3 on.
#define PROGRAM(vector) \
program: \
	PUSHQ	$0; \
	PUSHQ	$vector; \
	SWAPGS; \
	JMP	(CPU_Ring3+Ring3_Trap)(GS)

// entryBP looks for the Int3 at IP, and continues at its Code. If it is not where one looks first, or there is none,
// the handler looks.
TEXT ·entryBP(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PCALIGN	$1024			// all on one page
	BEGIN
	MOVQ	16(SP), R13
	DECQ	R13
	IMUL3Q	$const_HashFactor, R13, R15
	SHRQ	$(const_HashShift-3), R15
	ANDQ	·breakpointsMask(SB), R15
	ADDQ	·breakpoints(SB), R15
	MOVQ	(R15), R15
	CMPQ	R13, Int3_Addr(R15)
	JNE	unknown
	JMP	Int3_Code(R15)
unknown:
	XORL	R15, R15
	JMP	·known(SB)
program:
	PUSHQ	R15
	PUSHQ	R13
	SWAPGS
	JMP	(CPU_Ring3+Ring3_Break)(GS)

// known calls the handler; R15 is the Int3, or 0.
TEXT ·known(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LEAN(const_vecBP, ·onBreakpoint(SB))

TEXT ·entryDB(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	BEGIN
	LEAN(const_vecDB, ·handlers+8*const_vecDB(SB))
	PROGRAM(const_vecDB)

// DROP returns from a #DB where BEGIN was.
#define DROP \
	MOVL	$const_dr6Fixed, R15; \
	MOVQ	R15, DR6; \
	POPQ	R13; \
	POPQ	R15; \
	IRETQ

// entryWatch is entryDB while something is watched in QEMU.
TEXT ·entryWatch(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	BEGIN
	MOVQ	16(SP), R15		// interrupted IP
	SUBQ	·stubs(SB), R15
	CMPQ	R15, $const_page
	JLO	faulted
	LEAN(const_vecDB, ·handlers+8*const_vecDB(SB))
	PROGRAM(const_vecDB)
faulted:
	// The first instruction of another entry. QEMU has told of a watched load, although the
	// instruction then caused a page fault: no processor does, and GS may be a program's.
	// The instruction is executed again, and told of then, if the fault is served.
	DROP

// entryWatchReal is entryDB while something is watched on a processor. What MOV SS or POP SS has accessed
// is reported after the next instruction. If a program has called the kernel by that, it is the first one
// of an entry, and GS is the program's. Such an access is not reported: no other program does that.
//
// Source: Intel SDM, volume 3, "Masking Exceptions and Interrupts When Switching Stacks".
TEXT ·entryWatchReal(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	BEGIN
	MOVQ	16(SP), R15		// interrupted IP
	CMPQ	R15, ·callEntry(SB)
	JEQ	delayed
	CMPQ	R15, ·breakEntry(SB)
	JEQ	delayed
	SUBQ	·stubs(SB), R15
	CMPQ	R15, $const_page
	JLO	delayed
	LEAN(const_vecDB, ·handlers+8*const_vecDB(SB))
	PROGRAM(const_vecDB)
delayed:
	DROP

// func leanAddresses() (bp, db, known uintptr)
TEXT ·leanAddresses(SB),NOSPLIT,$0-24
	MOVQ	$·entryBP(SB), AX
	MOVQ	AX, bp+0(FP)
	MOVQ	$·entryDB(SB), AX
	MOVQ	AX, db+8(FP)
	MOVQ	$·known(SB), AX
	MOVQ	AX, known+16(FP)
	RET
