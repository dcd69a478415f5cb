// Trap entry and exit. Assembly moves registers; every decision that can be
// made in Go is made there (dispatch).

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "frame_amd64.h"

// A stub pushes 0 in place of a missing error code and its vector and jumps to
// entry or entryFixed. Interrupts are off; the stack is the entry stack:
//
//	0 vector  8 error  16 IP  24 CS  32 FLAGS  40 SP  48 SS
//
// From ring 3 GS is the program's: take ours.
#define ENTER \
	TESTB	$3, 24(SP); \
	JEQ	2(PC); \
	SWAPGS; \
	PUSHQ	R15; \
	PUSHQ	R14; \
	PUSHQ	R13; \
	PUSHQ	AX; \
	MOVQ	0(GS), R15

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
	MOVQ	GOF(2), R14
	JMP	chosen
fresh:
	MOVQ	HI(0), R13
	MOVQ	GOF(0), R14
chosen:
	RET

// Everything but NMI, #DF and #MC: choose a stack by where the trap came from.
TEXT ·entry(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ENTER
	MOVQ	72(SP), R13		// interrupted SP
	CMPQ	R13, HI(0)
	JHI	fresh			// a goroutine's stack
	CALL	·choose(SB)
	JMP	·save(SB)
fresh:
	MOVQ	HI(0), R13
	MOVQ	GOF(0), R14
	JMP	·save(SB)

// NMI is on its own stack already; its frame starts there anew, or below what came
// from there: see nmi_trap.go. What the CPU pushes and ENTER adds is above both.
TEXT ·entryNMI(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ENTER
	CMPL	CPU_nmi(R15), $0
	JNE	busy
	MOVQ	GOF(1), R14
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
	JMP	·save(SB)
busy:
	MOVL	$1, CPU_again(R15)
	POPQ	AX
	POPQ	R13
	POPQ	R14
	POPQ	R15
	ADDQ	$16, SP			// vector, error
	TESTB	$3, 8(SP)
	JEQ	2(PC)
	SWAPGS
	IRETQ

// Double fault and machine check start anew: nobody returns from them.
TEXT ·entryFault(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ENTER
	LEAQ	-128(SP), R13
	ANDQ	$~15, R13
	MOVQ	GOF(2), R14
	JMP	·save(SB)

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

// restore is the way back: SP is at the frame.
TEXT ·restore(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LEAVE(general)
	TESTB	$3, 8(SP)
	JEQ	2(PC)
	SWAPGS
	IRETQ

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

// loadXMM is the opposite, called with SP at the frame.
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

// unwind gives up everything above the frame of the Regs at AX on this stack,
// calls the func value in DX with them, and returns from that trap.
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
TEXT ·load(SB),NOSPLIT,$0-24
	MOVQ	gdtr+0(FP), AX
	LGDT	(AX)
	MOVQ	idtr+8(FP), AX
	LIDT	(AX)
	MOVW	tr+16(FP), AX
	LTR	AX
	RET

// func wrmsr(msr uint32, v uint64)
TEXT ·wrmsr(SB),NOSPLIT,$0-16
	MOVL	msr+0(FP), CX
	MOVL	v_lo+8(FP), AX
	MOVL	v_hi+12(FP), DX
	WRMSR
	RET

// func Self() *CPU
TEXT ·Self(SB),NOSPLIT,$0-8
	MOVQ	0(GS), AX
	MOVQ	AX, ret+0(FP)
	RET
