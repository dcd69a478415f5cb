//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func raiseSelf()
TEXT ·raiseSelf(SB),NOSPLIT,$0
	INT	$const_vecSelf
	RET

// func standStill(r *atomic.Uint64, n uint64)
TEXT ·standStill(SB),NOSPLIT,$0-16
	MOVQ	r+0(FP), AX
	MOVQ	n+8(FP), CX
again:
	PAUSE
	CMPQ	(AX), CX
	JEQ	again
	RET
