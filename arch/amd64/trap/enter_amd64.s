//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func Enter(code, arg uintptr) (result uintptr)
//
// The code runs as a trap's handler does: interrupts off, on this CPU's trap stack, with the g of that.
TEXT ·Enter(SB),NOSPLIT,$24-24
	MOVQ	code+0(FP), DI
	MOVQ	arg+8(FP), AX
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
	MOVQ	8(SP), CX
	MOVQ	CX, (TLS)
	MOVQ	0(SP), BX
	PUSHQ	BX
	POPFQ
	MOVQ	AX, result+16(FP)
	RET
