//go:build tamago

#include "textflag.h"

// func incWord()
// Its first instruction reads and writes word.
TEXT ·incWord(SB),NOSPLIT|NOFRAME,$0-0
	INCQ	·word(SB)
	RET

// func incDeep()
// It calls incWord with most of the space that a function without a stack check may use.
TEXT ·incDeep(SB),NOSPLIT,$720-0
	CALL	·incWord(SB)
	RET

// func readWord()
TEXT ·readWord(SB),NOSPLIT|NOFRAME,$0-0
	CMPQ	·word(SB), $0
	RET

// func jumpWord()
// It reads target, and goes there by a JMP that reads it again.
TEXT ·jumpWord(SB),NOSPLIT|NOFRAME,$0-0
	LEAQ	·target(SB), CX
	MOVQ	(CX), AX
	JMP	(CX)

TEXT ·arrive(SB),NOSPLIT|NOFRAME,$0-0
	RET

// func pair()
// For a jump that covers two instructions, of which the second writes word.
TEXT ·pair(SB),NOSPLIT|NOFRAME,$0-0
	XORL	AX, AX
	INCQ	·word(SB)
	ADDL	$2, AX
	RET

// func addresses() (inc, read, jump, arriveAt, pairAt uintptr)
TEXT ·addresses(SB),NOSPLIT,$0-40
	MOVQ	$·incWord(SB), AX
	MOVQ	AX, inc+0(FP)
	MOVQ	$·readWord(SB), AX
	MOVQ	AX, read+8(FP)
	MOVQ	$·jumpWord(SB), AX
	MOVQ	AX, jump+16(FP)
	MOVQ	$·arrive(SB), AX
	MOVQ	AX, arriveAt+24(FP)
	MOVQ	$·pair(SB), AX
	MOVQ	AX, pairAt+32(FP)
	RET
