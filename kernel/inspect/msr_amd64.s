//go:build tamago

#include "textflag.h"

// func rdmsr(msr uint32) (v, ok uint64)
// The instruction is a function of its own, whose address the handler of #GP knows: it
// continues after it with BX = 0.
TEXT ·rdmsr(SB),NOSPLIT,$0-24
	MOVL	msr+0(FP), CX
	MOVL	$1, BX
	XORL	AX, AX
	XORL	DX, DX
	CALL	·readsMSR(SB)
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, v+8(FP)
	MOVQ	BX, ok+16(FP)
	RET

TEXT ·readsMSR(SB),NOSPLIT|NOFRAME,$0
	RDMSR
	RET

// func wrmsr(msr uint32, v uint64) (ok uint64)
TEXT ·wrmsr(SB),NOSPLIT,$0-24
	MOVL	msr+0(FP), CX
	MOVQ	v+8(FP), AX
	MOVQ	AX, DX
	SHRQ	$32, DX
	MOVL	$1, BX
	CALL	·writesMSR(SB)
	MOVQ	BX, ok+16(FP)
	RET

TEXT ·writesMSR(SB),NOSPLIT|NOFRAME,$0
	WRMSR
	RET

// func msrInstructions() (reads, writes uintptr)
TEXT ·msrInstructions(SB),NOSPLIT,$0-16
	MOVQ	$·readsMSR(SB), AX
	MOVQ	AX, reads+0(FP)
	MOVQ	$·writesMSR(SB), AX
	MOVQ	AX, writes+8(FP)
	RET
