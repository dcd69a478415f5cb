//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// Jumped to as a function of one word, AX, that calls the code at DI with it: func Entering says what for.
TEXT ·enter(SB),NOSPLIT,$24-0
	PUSHFQ
	POPQ	BX
	CLI
	MOVQ	BX, 0(SP)
	MOVQ	(TLS), CX
	MOVQ	CX, 8(SP)
	MOVQ	0(GS), R15
	MOVQ	CPU_fresh(R15), DX
	MOVQ	SP, -8(DX)
	LEAQ	-8(DX), SP
	MOVQ	(CPU_stacks+stack__size*const_stackTrap+stack_g)(R15), R14
	MOVQ	R14, (TLS)
	XORPS	X15, X15
	XORL	BP, BP
	CALL	DI
	MOVQ	0(SP), SP
	MOVQ	8(SP), R14
	MOVQ	R14, (TLS)
	MOVQ	0(SP), BX
	PUSHQ	BX
	POPFQ
	RET

// func Entering() uintptr
TEXT ·Entering(SB),NOSPLIT,$0-8
	MOVQ	$·enter(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
