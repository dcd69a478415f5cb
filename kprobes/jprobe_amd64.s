//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func callMirrored(code, context uintptr, r *amd64.Regs, xmm *[16][16]byte, words uintptr) (ended int)
//
// The stack while the handler runs, from its bottom:
//
//	0         copy of the stack arguments, room for results on the stack, and
//	          room for the handler to spill its argument registers
//	maxStack  saved BP, return address
//
// mirrorSP remembers SP for leaveMirror.
//
// Go's argument registers: AX BX CX DI SI R8 R9 R10 R11, X0-X14; DX is the
// closure, R14 is g, X15 zero.
TEXT ·callMirrored(SB),NOSPLIT|NOFRAME,$0-48
	PUSHQ	BP
	MOVQ	SP, BP
	SUBQ	$const_maxStack, SP
	MOVQ	0(GS), CX
	MOVL	trapCPU_ID(CX), CX
	LEAQ	·mirrorSP(SB), AX
	MOVQ	SP, (AX)(CX*8)
	MOVQ	32(BP), R13		// r
	MOVQ	40(BP), R12		// xmm
	MOVQ	regs_SP(R13), SI
	ADDQ	$8, SI			// above the return address
	MOVQ	SP, DI
	MOVQ	48(BP), CX		// words
	CLD
	REP
	MOVSQ
	MOVUPS	0(R12), X0
	MOVUPS	16(R12), X1
	MOVUPS	32(R12), X2
	MOVUPS	48(R12), X3
	MOVUPS	64(R12), X4
	MOVUPS	80(R12), X5
	MOVUPS	96(R12), X6
	MOVUPS	112(R12), X7
	MOVUPS	128(R12), X8
	MOVUPS	144(R12), X9
	MOVUPS	160(R12), X10
	MOVUPS	176(R12), X11
	MOVUPS	192(R12), X12
	MOVUPS	208(R12), X13
	MOVUPS	224(R12), X14
	MOVQ	regs_AX(R13), AX
	MOVQ	regs_BX(R13), BX
	MOVQ	regs_CX(R13), CX
	MOVQ	regs_DI(R13), DI
	MOVQ	regs_SI(R13), SI
	MOVQ	regs_R8(R13), R8
	MOVQ	regs_R9(R13), R9
	MOVQ	regs_R10(R13), R10
	MOVQ	regs_R11(R13), R11
	MOVQ	24(BP), DX		// context
	MOVQ	16(BP), R12		// code
	XORPS	X15, X15
	CALL	R12
	LEAQ	const_maxStack(SP), BP
	MOVQ	$0, 56(BP)
	ADDQ	$const_maxStack, SP
	POPQ	BP
	RET

// func leaveMirror(sp uintptr)
// It returns to callMirrored's frame at sp, wherever the handler is.
TEXT ·leaveMirror(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	8(SP), SP
	LEAQ	const_maxStack(SP), BP
	MOVQ	$1, 56(BP)
	MOVQ	BP, SP
	MOVQ	0(SP), BP
	MOVQ	8(SP), CX		// callMirrored's return address
	ADDQ	$16, SP
	JMP	CX
