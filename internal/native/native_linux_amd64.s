#include "textflag.h"

// func call(entry, stack, ax, bx uintptr, to *state)
TEXT ·call(SB), NOSPLIT, $16-40
	MOVQ	entry+0(FP), R11
	MOVQ	stack+8(FP), DX
	MOVQ	ax+16(FP), AX
	MOVQ	bx+24(FP), BX
	MOVQ	BP, 8(SP)
	MOVQ	SP, -8(DX)
	LEAQ	-8(DX), SP
	// A program cannot rely on what it finds in registers.
	MOVQ	$0x1414141414141414, R14
	MOVQ	R14, R8
	MOVQ	R14, R9
	MOVQ	R14, R10
	MOVQ	R14, R12
	MOVQ	R14, R13
	MOVQ	R14, R15
	MOVQ	R14, CX
	MOVQ	R14, DX
	MOVQ	R14, SI
	MOVQ	R14, DI
	MOVQ	$0x1515151515151515, BP
	MOVQ	BP, X15
	PUNPCKLQDQ X15, X15
	MOVQ	$0x0505050505050505, BP
	CALL	R11
	MOVQ	0(SP), SP
	MOVQ	to+32(FP), CX
	MOVQ	AX, 0(CX)
	MOVQ	R14, 8(CX)
	MOVQ	BP, 16(CX)
	MOVOU	X15, 24(CX)
	MOVQ	8(SP), BP
	RET

// func Address(helper int) uintptr
TEXT ·Address(SB), NOSPLIT, $0-16
	MOVQ	helper+0(FP), AX
	LEAQ	sum<>(SB), DX
	CMPQ	AX, $0
	JEQ	done
	LEAQ	one<>(SB), DX
	CMPQ	AX, $1
	JEQ	done
	LEAQ	words<>(SB), DX
	CMPQ	AX, $2
	JEQ	done
	LEAQ	back<>(SB), DX
done:
	MOVQ	DX, ret+8(FP)
	RET

// spoil changes what a Go function can change, but AX. Before it, 16(SP) is the first word that
// the caller of the helper has room for.
TEXT spoil<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ	$0x6666666666666666, R11
	MOVQ	R11, BX
	MOVQ	R11, CX
	MOVQ	R11, DX
	MOVQ	R11, DI
	MOVQ	R11, SI
	MOVQ	R11, R8
	MOVQ	R11, R9
	MOVQ	R11, R10
	MOVQ	R11, R12
	MOVQ	R11, R13
	MOVQ	R11, R15
	MOVQ	R11, 16(SP)
	MOVQ	R11, 24(SP)
	MOVQ	R11, 32(SP)
	MOVQ	R11, 40(SP)
	MOVQ	R11, 48(SP)
	MOVQ	R11, 56(SP)
	MOVQ	R11, 64(SP)
	MOVQ	R11, 72(SP)
	RET

TEXT sum<>(SB), NOSPLIT|NOFRAME, $0
	LEAQ	(BX)(BX*2), BX
	ADDQ	BX, AX
	LEAQ	(CX)(CX*4), CX
	ADDQ	CX, AX
	IMUL3Q	$7, DI, DI
	ADDQ	DI, AX
	IMUL3Q	$11, SI, SI
	ADDQ	SI, AX
	CALL	spoil<>(SB)
	RET

TEXT one<>(SB), NOSPLIT|NOFRAME, $0
	MOVL	$1, AX
	CALL	spoil<>(SB)
	RET

TEXT words<>(SB), NOSPLIT|NOFRAME, $0
	LEAQ	(R9)(R9*2), R9
	LEAQ	(R10)(R10*4), R10
	LEAQ	(R8)(R9*1), AX
	ADDQ	R10, AX
	CALL	spoil<>(SB)
	RET

TEXT back<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ	AX, R11
	MOVQ	BX, AX
	MOVQ	CX, BX
	MOVQ	DI, CX
	MOVQ	SI, DI
	MOVQ	R10, R9
	CALL	R11
	CALL	spoil<>(SB)
	RET
