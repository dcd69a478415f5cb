// A program for short_tamago.go, which copies it into a file: its addresses are relative.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"

#define GETPID	39
#define EXIT	231

// keeps: calls getpid, as often as short_tamago.go says, and looks whether that changes anything
// but AX, CX and R11. It ends with status 0 if not, and with 1 if so.
TEXT ·keeps(SB),NOSPLIT|NOFRAME,$0
	MOVL	$const_rounds, BX
	MOVL	$GETPID, AX
	SYSCALL
	MOVQ	AX, BP
again:
	MOVQ	SP, R12
	LEAQ	1(BX), DX
	LEAQ	2(BX), SI
	LEAQ	3(BX), DI
	LEAQ	4(BX), R8
	LEAQ	5(BX), R9
	LEAQ	6(BX), R10
	LEAQ	7(BX), R13
	LEAQ	8(BX), R14
	LEAQ	9(BX), R15
	MOVQ	DX, X0
	MOVQ	SI, X7
	MOVQ	R14, X14
	MOVQ	R15, X15
	PUNPCKLQDQ X15, X15
	MOVL	$GETPID, AX
	STC
	SYSCALL
	JCC	bad
	CMPQ	AX, BP
	JNE	bad
	CMPQ	SP, R12
	JNE	bad
	MOVQ	X0, AX
	CMPQ	AX, DX
	JNE	bad
	MOVQ	X7, AX
	CMPQ	AX, SI
	JNE	bad
	MOVQ	X14, AX
	CMPQ	AX, R14
	JNE	bad
	PSRLO	$8, X15
	MOVQ	X15, AX
	CMPQ	AX, R15
	JNE	bad
	SUBQ	BX, DX
	CMPQ	DX, $1
	JNE	bad
	SUBQ	BX, SI
	CMPQ	SI, $2
	JNE	bad
	SUBQ	BX, DI
	CMPQ	DI, $3
	JNE	bad
	SUBQ	BX, R8
	CMPQ	R8, $4
	JNE	bad
	SUBQ	BX, R9
	CMPQ	R9, $5
	JNE	bad
	SUBQ	BX, R10
	CMPQ	R10, $6
	JNE	bad
	SUBQ	BX, R13
	CMPQ	R13, $7
	JNE	bad
	SUBQ	BX, R14
	CMPQ	R14, $8
	JNE	bad
	SUBQ	BX, R15
	CMPQ	R15, $9
	JNE	bad
	DECQ	BX
	JNZ	again
	XORL	DI, DI
	JMP	out
bad:
	MOVL	$1, DI
out:
	MOVL	$EXIT, AX
	SYSCALL

// func keepsAddr() uintptr
TEXT ·keepsAddr(SB),NOSPLIT,$0-8
	MOVQ	$·keeps(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
