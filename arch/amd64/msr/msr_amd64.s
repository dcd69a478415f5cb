//go:build tamago

#include "textflag.h"

// func Read(register uint32) uint64
TEXT ·Read(SB),NOSPLIT,$0-16
	MOVL	register+0(FP), CX
	RDMSR
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, ret+8(FP)
	RET

// func Write(register uint32, v uint64)
TEXT ·Write(SB),NOSPLIT,$0-16
	MOVL	register+0(FP), CX
	MOVQ	v+8(FP), AX
	MOVQ	AX, DX
	SHRQ	$32, DX
	WRMSR
	RET
