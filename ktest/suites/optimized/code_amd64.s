//go:build tamago

#include "textflag.h"

// func loadThrough(p *uint64) uint64
// XORL, 2 bytes, and the load, which faults, are a region.
TEXT ·loadThrough(SB),NOSPLIT,$0-16
	MOVQ	p+0(FP), AX
	XORL	CX, CX
	MOVQ	(AX), AX
	MOVQ	AX, ret+8(FP)
	RET

// func storeThrough(p *uint64)
TEXT ·storeThrough(SB),NOSPLIT,$0-8
	MOVQ	p+0(FP), AX
	MOVL	$3, CX
	MOVQ	$7, (AX)
	RET

// func callThrough(p *uint64)
// The call, which faults, is the last instruction of a region: MOVQ has 3 bytes,
// CALL 2, and its copy pushes the return address before it reads (AX).
TEXT ·callThrough(SB),NOSPLIT,$0-8
	MOVQ	p+0(FP), AX
	MOVQ	AX, CX
	CALL	(AX)
	XORL	CX, CX
	RET

// func jumpThrough(p *uint64)
TEXT ·jumpThrough(SB),NOSPLIT,$0-8
	MOVQ	p+0(FP), AX
	JMP	(AX)
	XORL	AX, AX
	RET

// func divideBy(n uint64) uint64
TEXT ·divideBy(SB),NOSPLIT,$0-16
	MOVQ	n+0(FP), CX
	MOVL	$100, AX
	XORL	DX, DX
	DIVQ	CX
	MOVQ	AX, ret+8(FP)
	RET

// func fill(p *byte, n uint64)
// Its region is NOP, REP STOSB and MOVL: a CPU is interrupted at its second
// instruction, one byte after the first.
TEXT ·fill(SB),NOSPLIT|NOFRAME,$0-16
	MOVQ	8(SP), DI
	MOVQ	16(SP), CX
	MOVL	$0x5a, AX
	JMP	·filler(SB)

TEXT ·filler(SB),NOSPLIT|NOFRAME,$0
	BYTE	$0x90			// NOP: the assembler leaves out its own
	REP; STOSB
	MOVL	$1, AX
	RET

// func fillerAddr() uintptr
TEXT ·fillerAddr(SB),NOSPLIT,$0-8
	MOVQ	$·filler(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
