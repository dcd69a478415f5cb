//go:build tamago && !nolinux

#include "textflag.h"

// func copyWords(to, from unsafe.Pointer, n uintptr)
TEXT ·copyWords(SB),NOSPLIT,$0-24
	MOVQ	to+0(FP), DI
	MOVQ	from+8(FP), SI
	MOVQ	n+16(FP), CX
	CLD
	CMPQ	CX, $1
	JEQ	one
	REP; MOVSQ
	RET
one:
	MOVSQ
	RET
