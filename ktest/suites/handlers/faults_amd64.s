//go:build tamago

#include "textflag.h"

// func loadThrough(p *uint64) uint64
TEXT ·loadThrough(SB),NOSPLIT,$0-16
	MOVQ	p+0(FP), AX
	MOVQ	(AX), AX
	MOVQ	AX, ret+8(FP)
	RET

// func storeThrough(p *uint64)
TEXT ·storeThrough(SB),NOSPLIT,$0-8
	MOVQ	p+0(FP), AX
	MOVQ	$7, (AX)
	RET

// func callThrough(p *uint64)
TEXT ·callThrough(SB),NOSPLIT,$0-8
	MOVQ	p+0(FP), AX
	CALL	(AX)
	RET

// func jumpThrough(p *uint64)
TEXT ·jumpThrough(SB),NOSPLIT,$0-8
	MOVQ	p+0(FP), AX
	JMP	(AX)
