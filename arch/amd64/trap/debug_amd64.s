// The entry of #DB at the end of a step while something is watched: see debug_step_trap.go.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"

TEXT ·entryDebug(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PUSHQ	AX
	LEAQ	·entryDebug(SB), AX
	CMPQ	AX, 8(SP)		// interrupted IP
	JEQ	again
	POPQ	AX
	JMP	·entryWatch(SB)
again:
	MOVQ	32(SP), AX		// SP: the frame of the first
	TESTB	$3, 8(AX)
	JNE	dropped			// a program's
	ORL	$1, 12(AX)		// mark it, above CS: const twice
dropped:
	POPQ	AX
	IRETQ

// func watchAddresses() (watch, step, real uintptr)
TEXT ·watchAddresses(SB),NOSPLIT,$0-24
	MOVQ	$·entryWatch(SB), AX
	MOVQ	AX, watch+0(FP)
	MOVQ	$·entryDebug(SB), AX
	MOVQ	AX, step+8(FP)
	MOVQ	$·entryWatchReal(SB), AX
	MOVQ	AX, real+16(FP)
	RET

// func lidt(idtr *[10]byte)
TEXT ·lidt(SB),NOSPLIT,$0-8
	MOVQ	idtr+0(FP), AX
	LIDT	(AX)
	RET
