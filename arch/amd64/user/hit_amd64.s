// Hits of programs that are handled where they arrive. Its FSGSBASE instructions are like those of
// enter_amd64.s, after which this file must be linked: see alternatives.go.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "context_amd64.h"

// Instructions that the assembler does not have.
#define LOADFLAGS(flags) \
	PUSHQ	$flags; \
	POPFQ

#define FRAME	Context_frame
#define XMM(i)	(FRAME+frame_xmm+16*i)
#define MXCSR	(Context_fx+const_fxMXCSR)

// BEGINHIT: R15 is the Context, whose Regs are filled in; GS is the kernel's, and all else the program's.
// What runs then is Go on the CPU's trap stack, which is unused in ring 3. It leaves X0-X14 alone, or
// saves them in frame (SaveVectors). The Context stays that of the CPU.
#define BEGINHIT \
	MOVQ	0(GS), R13; \
	MOVQ	(R3+ring3_HitStack)(R13), SP; \
	RDFSBASEQ AX; \
	MOVQ	AX, Context_FSBase(R15); \
	MOVQ	Context_kernelFS(R15), AX; \
	WRFSBASEQ AX; \
	MOVL	$1, AX; \
	XCHGL	AX, (R3+ring3_Hit)(R13);	/* a barrier: see grace.Passed */ \
	MOVQ	(TLS), AX; \
	MOVQ	AX, (FRAME+frame_g)(R15); \
	MOVQ	(R3+ring3_HitG)(R13), R14; \
	MOVQ	R14, (TLS); \
	MOVL	cpu_ID(R13), CX; \
	MOVQ	CX, (FRAME+frame_cpu)(R15); \
	MOVL	$0, (FRAME+frame_saved)(R15); \
	MOVUPS	X15, XMM(15)(R15); \
	XORPS	X15, X15

// CALLHANDLER calls the func value f with R15, the Context, and R13, the CPU.
#define CALLHANDLER(f) \
	MOVQ	f(SB), DX; \
	LEAQ	REGS(R15), AX; \
	MOVQ	Context_probes(R15), BX; \
	MOVQ	(FRAME+frame_cpu)(R15), CX; \
	XORL	BP, BP; \
	MOVQ	(DX), SI; \
	CALL	SI; \
	JMP	·handled(SB)

// fromBreak is where breakpoints of ring 3 come, GS being the kernel's again. The entry stack has
//
//	0 R13  8 R15  16 IP  24 CS  32 FLAGS  40 SP  48 SS
//
// It looks for the Break at IP, and continues at its Code, or at known if it is not where one looks first. What
// it reads is the kernel's, and cannot be watched.
TEXT ·fromBreak(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	(R3+ring3_Context)(GS), R13
	MOVQ	Context_breaks(R13), R13
	TESTQ	R13, R13
	JEQ	unknown
	MOVQ	(R13), R13
	IMUL3Q	$const_hashFactor, 16(SP), R15
	SUBQ	$const_hashFactor, R15		// of the address, which is IP less 1
	SHRQ	$(const_hashShift-3), R15
	ANDQ	Breaks_mask(R13), R15
	ADDQ	Breaks_first(R13), R15
	MOVQ	(R15), R15
	MOVQ	Break_Behind(R15), R13
	CMPQ	R13, 16(SP)
	JNE	unknown
	JMP	Break_Code(R15)
unknown:
	XORL	R15, R15
	JMP	·known(SB)

// known has the breakpoint handled: R15 is the Break, or 0.
TEXT ·known(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	(R3+ring3_Context)(GS), R13
	SAVEOTHERS(R13)
	MOVQ	R15, R12
	MOVQ	R13, R15
	POPQ	(REGS+regs_R13)(R15)
	POPQ	(REGS+regs_R15)(R15)
	POPQ	(REGS+regs_IP)(R15)
	POPQ	(REGS+regs_CS)(R15)
	POPQ	(REGS+regs_Flags)(R15)
	POPQ	(REGS+regs_SP)(R15)
	POPQ	(REGS+regs_SS)(R15)
	MOVQ	$const_breakpoint, (REGS+regs_Vector)(R15)
	MOVQ	$0, (REGS+regs_Err)(R15)
	PUSHQ	$const_flagsFixed	// see fromTrap
	POPFQ
	INCQ	(cpu_counts+8*const_breakpoint)(GS)
	MOVL	$const_selKernelData, CX
	MOVW	CX, SS
	CMPQ	Context_probes(R15), $0
	JEQ	leaves
	CMPL	Context_steps(R15), $0
	JNE	leaves
	BEGINHIT
	MOVQ	R12, DI
	CALLHANDLER(·onBreak)
leaves:
	JMP	·leave(SB)

// hit has all else handled that may be a hit.
TEXT ·hit(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	BEGINHIT
	CALLHANDLER(·onHit)

// abandoned is where a hit continues whose handler has been abandoned: see AbandonHit.
TEXT ·abandoned(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	0(GS), R13
	MOVQ	(R3+ring3_Context)(R13), R15
	MOVQ	(TLS), R14
	XORPS	X15, X15
	CALLHANDLER(·onAbandoned)

// handled ends a hit: AX says whether the program continues, or its goroutine has to do something.
TEXT ·handled(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVBLZX	AX, R12
	MOVQ	0(GS), R13
	MOVQ	(R3+ring3_Context)(R13), R15
	CMPL	(FRAME+frame_saved)(R15), $0
	JEQ	kept
	LOADXMM
	LDMXCSR	MXCSR(R15)
kept:
	MOVUPS	XMM(15)(R15), X15
	MOVQ	(FRAME+frame_g)(R15), AX
	MOVQ	AX, (TLS)
	MOVL	$0, (R3+ring3_Hit)(R13)
	MOVQ	Context_FSBase(R15), AX
	WRFSBASEQ AX
	TESTL	R12, R12
	JEQ	leaves
	SWAPGS
	JMP	·byIret(SB)
leaves:
	JMP	·leave(SB)

// end is the end of the code that alternatives are looked for in.
TEXT ·end(SB),NOSPLIT|NOFRAME,$0
	RET

// func takeMXCSR(r *amd64.Regs)
TEXT ·takeMXCSR(SB),NOSPLIT,$0-8
	MOVQ	r+0(FP), R15
	SUBQ	$REGS, R15
	STMXCSR	MXCSR(R15)
	LDMXCSR	·kernelMXCSR(SB)
	RET

// func breakAddresses() (from, known uintptr)
TEXT ·breakAddresses(SB),NOSPLIT,$0-16
	MOVQ	$·fromBreak(SB), AX
	MOVQ	AX, from+0(FP)
	MOVQ	$·known(SB), AX
	MOVQ	AX, known+8(FP)
	RET

// func abandonedAt() uintptr
TEXT ·abandonedAt(SB),NOSPLIT,$0-8
	MOVQ	$·abandoned(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// The program's memory, by its own addresses: the tables are loaded. AC lets the kernel use them
// where there is SMAP. FixFault leads from a page fault to the second function of each pair.

// INSIDE jumps to outside unless AX is an address that a program can have.
#define INSIDE \
	MOVQ	$const_End, DX; \
	CMPQ	AX, DX; \
	JCC	outside

// func LoadWord(addr uint64) (v uint64, ok bool)
TEXT ·LoadWord(SB),NOSPLIT,$0-17
	MOVQ	addr+0(FP), AX
	INSIDE
	LOADFLAGS(const_flagsAccess)
	MOVQ	(AX), AX
	LOADFLAGS(const_flagsFixed)
	MOVQ	AX, v+8(FP)
	MOVB	$1, ok+16(FP)
	RET
outside:
	JMP	·loadFails(SB)

TEXT ·loadFails(SB),NOSPLIT,$0-17
	LOADFLAGS(const_flagsFixed)
	MOVQ	$0, v+8(FP)
	MOVB	$0, ok+16(FP)
	RET

// func LoadPair(addr uint64) (first, second uint64, ok bool)
TEXT ·LoadPair(SB),NOSPLIT,$0-25
	MOVQ	addr+0(FP), AX
	INSIDE
	LOADFLAGS(const_flagsAccess)
	MOVQ	8(AX), CX
	MOVQ	(AX), AX
	LOADFLAGS(const_flagsFixed)
	MOVQ	AX, first+8(FP)
	MOVQ	CX, second+16(FP)
	MOVB	$1, ok+24(FP)
	RET
outside:
	JMP	·loadPairFails(SB)

TEXT ·loadPairFails(SB),NOSPLIT,$0-25
	LOADFLAGS(const_flagsFixed)
	MOVQ	$0, first+8(FP)
	MOVQ	$0, second+16(FP)
	MOVB	$0, ok+24(FP)
	RET

// func SwapWord(addr, v uint64) (old uint64, ok bool)
TEXT ·SwapWord(SB),NOSPLIT,$0-25
	MOVQ	addr+0(FP), AX
	INSIDE
	MOVQ	v+8(FP), CX
	LOADFLAGS(const_flagsAccess)
	MOVQ	(AX), DX
	MOVQ	CX, (AX)
	LOADFLAGS(const_flagsFixed)
	MOVQ	DX, old+16(FP)
	MOVB	$1, ok+24(FP)
	RET
outside:
	JMP	·swapFails(SB)

TEXT ·swapFails(SB),NOSPLIT,$0-25
	LOADFLAGS(const_flagsFixed)
	MOVQ	$0, old+16(FP)
	MOVB	$0, ok+24(FP)
	RET

// func accessAddresses() [6]uintptr
TEXT ·accessAddresses(SB),NOSPLIT,$0-48
	MOVQ	$·LoadWord(SB), AX
	MOVQ	AX, ret_0+0(FP)
	MOVQ	$·loadFails(SB), AX
	MOVQ	AX, ret_1+8(FP)
	MOVQ	$·LoadPair(SB), AX
	MOVQ	AX, ret_2+16(FP)
	MOVQ	$·loadPairFails(SB), AX
	MOVQ	AX, ret_3+24(FP)
	MOVQ	$·SwapWord(SB), AX
	MOVQ	AX, ret_4+32(FP)
	MOVQ	$·swapFails(SB), AX
	MOVQ	AX, ret_5+40(FP)
	RET
