// Trap entry and exit. Assembly moves registers; every decision that Go code can make is made there
// (dispatch).

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "frame_amd64.h"

// A stub pushes 0 in place of a missing error code and its vector and jumps to
// entry or entryFixed. Interrupts are off; the stack is the entry stack:
//
//	0 vector  8 error  16 IP  24 CS  32 FLAGS  40 SP  48 SS
#define ENTER \
	PUSHQ	R15; \
	PUSHQ	R14; \
	PUSHQ	R13; \
	PUSHQ	AX

// After ENTER: the address of the CPU on the stacks of NMI, #DF and #MC.
#define OURCPU	88(SP)

// choose sets R13 to where the frame of a trap that interrupted a stack at R13
// ends, and R14 to the g of that stack; AX is lost. R15 is the CPU, whose stacks
// lie together, the trap stack uppermost, the NMI stack lowest: a goroutine's is
// outside.
TEXT ·choose(SB),NOSPLIT|NOFRAME,$0
	PCALIGN	$1024			// this and what follows, up to loadXMM, on one page
	CMPQ	R13, HI(0)
	JHI	fresh
	CMPQ	R13, LO(1)
	JLS	fresh
	CMPQ	R13, LO(0)
	JLS	notTrap
	MOVQ	LO(0), AX
	ADDQ	$const_reserve, AX
	CMPQ	R13, AX
	JLS	exhausted
	MOVQ	GOF(0), R14
	JMP	nested
notTrap:
	MOVQ	GOF(1), R14
	CMPQ	R13, HI(1)
	JLS	nested
	MOVQ	GOF(2), R14
	CMPQ	R13, HI(2)
	JHI	fresh
	CMPQ	R13, LO(2)
	JLS	fresh
nested:
	SUBQ	$const_nestGap, R13
	ANDQ	$~15, R13
	JMP	chosen
exhausted:
	MOVQ	HI(2), R13
	SUBQ	$16, R13		// OURCPU is there
	MOVQ	GOF(2), R14
	JMP	chosen
fresh:
	MOVQ	HI(0), R13
	MOVQ	GOF(0), R14
chosen:
	RET

// Everything but NMI, #DF and #MC: choose a stack by where the trap came from. Traps from ring 3
// belong to package user, which passes interrupts back to this code.
TEXT ·entry(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	TESTB	$3, 24(SP)
	JNE	program
	ENTER
	MOVQ	0(GS), R15
	MOVQ	72(SP), R13		// interrupted SP
	CMPQ	R13, HI(0)
	JHI	fresh			// a goroutine's stack
	CALL	·choose(SB)
	JMP	·save(SB)
fresh:
	MOVQ	HI(0), R13
	MOVQ	GOF(0), R14
	JMP	·save(SB)
program:
	SWAPGS
	JMP	(CPU_Ring3+Ring3_Trap)(GS)

// NMI is on its own stack already; its frame begins at the stack's end, or below the interrupted
// code's part: see nmi_trap.go. What the CPU pushes and ENTER adds is above both.
TEXT ·entryNMI(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ENTER
	MOVQ	OURCPU, R15
	CMPL	CPU_nmi(R15), $0
	JNE	busy
	MOVQ	72(SP), R13		// interrupted SP
	CMPQ	R13, HI(1)
	JHI	anew
	CMPQ	R13, LO(1)
	JHI	below
anew:
	MOVQ	SP, R13
below:
	SUBQ	$const_nestGap, R13
	ANDQ	$~15, R13
	LEAQ	CPU_nmiTLS(R15), R14
	CALL	·takeOurs(SB)
	MOVQ	GOF(1), R14
	JMP	·save(SB)
busy:
	MOVL	$1, CPU_again(R15)
	POPQ	AX
	POPQ	R13
	POPQ	R14
	POPQ	R15
	ADDQ	$16, SP			// vector, error
	IRETQ

// Double fault and machine check begin at the stack's end: they never return.
TEXT ·entryFault(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ENTER
	MOVQ	OURCPU, R15
	LEAQ	-128(SP), R13
	ANDQ	$~15, R13
	LEAQ	CPU_faultTLS(R15), R14
	CALL	·takeOurs(SB)
	MOVQ	GOF(2), R14
	JMP	·save(SB)

// takeOurs makes GS, FS and MXCSR the kernel's, R15 being the CPU. NMI, #DF and #MC
// come anywhere: in ring 3, or in ring 0 where they are a program's still or already
// (package user). What they were is kept above the frame that is to end at R13, which
// moves down; restore puts it back. FS comes to point at the word at R14, which gets
// the interrupted g, 0 where that cannot be known. AX and R14 are lost.
//
// It goes by the MSRs, which all processors have, FSGSBASE or not: it is not often.
TEXT ·takeOurs(SB),NOSPLIT|NOFRAME,$0
	PUSHQ	CX
	PUSHQ	DX
	PUSHQ	BX
	SUBQ	$OTHERS, R13
	STMXCSR	MXCSR(R13)
	LDMXCSR	·kernelMXCSR(SB)
	MOVL	$const_msrGS, CX
	RDMSR
	MOVL	AX, GSBASE(R13)
	MOVL	DX, (GSBASE+4)(R13)
	MOVQ	R15, AX
	MOVQ	R15, DX
	SHRQ	$32, DX
	WRMSR
	XORL	BX, BX
	CMPQ	(CPU_Ring3+Ring3_Context)(R15), $0
	JEQ	known
	CMPL	(CPU_Ring3+Ring3_Hit)(R15), $0
	JEQ	unknown			// FS may be a program's
known:
	MOVQ	(TLS), BX
unknown:
	MOVQ	BX, (R14)
	MOVL	$const_msrFS, CX
	RDMSR
	MOVL	AX, FSBASE(R13)
	MOVL	DX, (FSBASE+4)(R13)
	LEAQ	8(R14), AX
	MOVQ	AX, DX
	SHRQ	$32, DX
	WRMSR
	POPQ	BX
	POPQ	DX
	POPQ	CX
	RET

// giveBack undoes takeOurs; SP+8 is at the frame. AX, CX and DX are lost.
TEXT ·giveBack(SB),NOSPLIT|NOFRAME,$0
	LDMXCSR	(8+FRAME+MXCSR)(SP)
	MOVL	$const_msrFS, CX
	MOVL	(8+FRAME+FSBASE)(SP), AX
	MOVL	(8+FRAME+FSBASE+4)(SP), DX
	WRMSR
	MOVL	$const_msrGS, CX
	MOVL	(8+FRAME+GSBASE)(SP), AX
	MOVL	(8+FRAME+GSBASE+4)(SP), DX
	WRMSR
	RET

// save moves the frame below R13, calls the vector's handler with g = R14, and
// returns from the trap. The entry stack holds AX R13 R14 R15 and what ENTER
// found. R15 is the CPU.
TEXT ·save(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	SUBQ	$FRAME, R13
	MOVQ	BP, (REGS+regs_BP)(R13)
	MOVQ	BX, (REGS+regs_BX)(R13)
	MOVQ	CX, (REGS+regs_CX)(R13)
	MOVQ	DX, (REGS+regs_DX)(R13)
	MOVQ	SI, (REGS+regs_SI)(R13)
	MOVQ	DI, (REGS+regs_DI)(R13)
	MOVQ	R8, (REGS+regs_R8)(R13)
	MOVQ	R9, (REGS+regs_R9)(R13)
	MOVQ	R10, (REGS+regs_R10)(R13)
	MOVQ	R11, (REGS+regs_R11)(R13)
	MOVQ	R12, (REGS+regs_R12)(R13)
	MOVQ	0(SP), AX
	MOVQ	8(SP), BX
	MOVQ	16(SP), CX
	MOVQ	24(SP), DX
	MOVQ	AX, (REGS+regs_AX)(R13)
	MOVQ	BX, (REGS+regs_R13)(R13)
	MOVQ	CX, (REGS+regs_R14)(R13)
	MOVQ	DX, (REGS+regs_R15)(R13)
	MOVQ	32(SP), DX		// vector
	MOVQ	40(SP), AX		// error
	MOVQ	48(SP), BX		// IP
	MOVQ	56(SP), CX		// CS
	MOVQ	64(SP), SI		// FLAGS
	MOVQ	72(SP), DI		// SP
	MOVQ	80(SP), R8		// SS
	MOVQ	DX, (REGS+regs_Vector)(R13)
	MOVQ	AX, (REGS+regs_Err)(R13)
	MOVQ	BX, (REGS+regs_IP)(R13)
	MOVQ	CX, (REGS+regs_CS)(R13)
	MOVQ	SI, (REGS+regs_Flags)(R13)
	MOVQ	DI, (REGS+regs_SP)(R13)
	MOVQ	R8, (REGS+regs_SS)(R13)
	MOVQ	R13, SP			// the entry stack is free again
	MOVUPS	X15, (XMM+240)(SP)
	MOVQ	SP, CX
	CALL	·saveXMM(SB)
	XORPS	X15, X15
	CLD
	MOVQ	(TLS), AX
	MOVQ	AX, G(SP)
	MOVQ	R14, (TLS)
	MOVL	CPU_ID(R15), AX
	MOVQ	AX, CPUID(SP)
	MOVQ	CPU_probes(R15), AX
	MOVQ	AX, PROBES(SP)
	INCQ	CPU_counts(R15)(DX*8)
	LEAQ	·handlers(SB), CX
	MOVQ	(CX)(DX*8), DX		// a func value: DX is its context
	MOVQ	(DX), CX
	LEAQ	REGS(SP), AX
	XORL	BP, BP			// frame pointers end here
	CALL	CX
	JMP	·restore(SB)

// restore returns from a trap: SP is at the frame.
TEXT ·restore(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	GIVEG
	CMPL	SAVED(SP), $0
	JEQ	general
	CALL	·loadXMM(SB)
	CMPQ	(REGS+regs_Vector)(SP), $const_vecNMI
	JEQ	others
	CMPQ	(REGS+regs_Vector)(SP), $const_vecMC
	JEQ	others
general:
	POPREGS
	IRETQ
others:
	CALL	·giveBack(SB)
	JMP	general

// saveXMM saves X0-X14 in the frame at CX.
TEXT ·saveXMM(SB),NOSPLIT|NOFRAME,$0
	MOVUPS	X0, (XMM+0)(CX)
	MOVUPS	X1, (XMM+16)(CX)
	MOVUPS	X2, (XMM+32)(CX)
	MOVUPS	X3, (XMM+48)(CX)
	MOVUPS	X4, (XMM+64)(CX)
	MOVUPS	X5, (XMM+80)(CX)
	MOVUPS	X6, (XMM+96)(CX)
	MOVUPS	X7, (XMM+112)(CX)
	MOVUPS	X8, (XMM+128)(CX)
	MOVUPS	X9, (XMM+144)(CX)
	MOVUPS	X10, (XMM+160)(CX)
	MOVUPS	X11, (XMM+176)(CX)
	MOVUPS	X12, (XMM+192)(CX)
	MOVUPS	X13, (XMM+208)(CX)
	MOVUPS	X14, (XMM+224)(CX)
	MOVL	$1, SAVED(CX)
	RET

// loadXMM restores them, called with SP at the frame.
TEXT ·loadXMM(SB),NOSPLIT|NOFRAME,$0
	MOVUPS	(8+XMM+0)(SP), X0
	MOVUPS	(8+XMM+16)(SP), X1
	MOVUPS	(8+XMM+32)(SP), X2
	MOVUPS	(8+XMM+48)(SP), X3
	MOVUPS	(8+XMM+64)(SP), X4
	MOVUPS	(8+XMM+80)(SP), X5
	MOVUPS	(8+XMM+96)(SP), X6
	MOVUPS	(8+XMM+112)(SP), X7
	MOVUPS	(8+XMM+128)(SP), X8
	MOVUPS	(8+XMM+144)(SP), X9
	MOVUPS	(8+XMM+160)(SP), X10
	MOVUPS	(8+XMM+176)(SP), X11
	MOVUPS	(8+XMM+192)(SP), X12
	MOVUPS	(8+XMM+208)(SP), X13
	MOVUPS	(8+XMM+224)(SP), X14
	RET

// func saveLate(r *amd64.Regs)
// The same from a handler: the frame is r's.
TEXT ·saveLate(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	r+8(SP), CX
	SUBQ	$REGS, CX
	JMP	·saveXMM(SB)

// unwind discards everything above the frame of the Regs at AX on this stack, calls the func value
// in DX with them, and returns from that trap.
TEXT ·unwind(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LEAQ	-(REGS)(AX), SP
	XORL	BP, BP
	XORPS	X15, X15
	MOVQ	(DX), CX
	CALL	CX
	JMP	·restore(SB)

// func unwindAddr() uintptr
TEXT ·unwindAddr(SB),NOSPLIT,$0-8
	MOVQ	$·unwind(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func addresses() (entry, nmi, fault uintptr)
TEXT ·addresses(SB),NOSPLIT,$0-24
	MOVQ	$·entry(SB), AX
	MOVQ	AX, entry+0(FP)
	MOVQ	$·entryNMI(SB), AX
	MOVQ	AX, nmi+8(FP)
	MOVQ	$·entryFault(SB), AX
	MOVQ	AX, fault+16(FP)
	RET

// func softAddresses() (choose, load, restore uintptr)
TEXT ·softAddresses(SB),NOSPLIT,$0-24
	MOVQ	$·choose(SB), AX
	MOVQ	AX, choose+0(FP)
	MOVQ	$·loadXMM(SB), AX
	MOVQ	AX, load+8(FP)
	MOVQ	$·restore(SB), AX
	MOVQ	AX, restore+16(FP)
	RET

// func load(gdtr, idtr *[10]byte, tr uint16)
TEXT ·load(SB),NOSPLIT,$0-18
	MOVQ	gdtr+0(FP), AX
	LGDT	(AX)
	MOVQ	idtr+8(FP), AX
	LIDT	(AX)
	MOVW	tr+16(FP), AX
	LTR	AX
	RET

// func Self() *CPU
TEXT ·Self(SB),NOSPLIT,$0-8
	MOVQ	0(GS), AX
	MOVQ	AX, ret+0(FP)
	RET
