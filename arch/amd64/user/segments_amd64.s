// The bases of FS and GS through the MSRs, for processors without FSGSBASE: see alternatives.go.
// The base is in AX; CX and DX are lost. Interrupts are off.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"

#define READ(msr) \
	MOVL	$msr, CX; \
	RDMSR; \
	SHLQ	$32, DX; \
	ORQ	DX, AX; \
	RET

#define WRITE(msr) \
	MOVL	$msr, CX; \
	MOVQ	AX, DX; \
	SHRQ	$32, DX; \
	WRMSR; \
	RET

TEXT ·msrReadFS(SB),NOSPLIT|NOFRAME,$0
	READ(const_msrFS)

TEXT ·msrReadGS(SB),NOSPLIT|NOFRAME,$0
	READ(const_msrGS)

TEXT ·msrWriteFS(SB),NOSPLIT|NOFRAME,$0
	WRITE(const_msrFS)

TEXT ·msrWriteGS(SB),NOSPLIT|NOFRAME,$0
	WRITE(const_msrGS)

// func segmentAddresses() (start, end uintptr, routines [4]uintptr)
TEXT ·segmentAddresses(SB),NOSPLIT,$0-48
	MOVQ	$·enter(SB), AX
	MOVQ	AX, start+0(FP)
	MOVQ	$·end(SB), AX
	MOVQ	AX, end+8(FP)
	MOVQ	$·msrReadFS(SB), AX
	MOVQ	AX, routines_0+16(FP)
	MOVQ	$·msrReadGS(SB), AX
	MOVQ	AX, routines_1+24(FP)
	MOVQ	$·msrWriteFS(SB), AX
	MOVQ	AX, routines_2+32(FP)
	MOVQ	$·msrWriteGS(SB), AX
	MOVQ	AX, routines_3+40(FP)
	RET
