//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func flags() uint64
TEXT ·flags(SB),NOSPLIT,$0-8
	PUSHFQ
	POPQ	AX
	MOVQ	AX, ret+0(FP)
	RET

// func backward() uint64
//
// STD, a NOP of 5 bytes, and the flags after it: by bytes, so that the places are known.
TEXT ·backward(SB),NOSPLIT|NOFRAME,$0-8
	STD
	BYTE	$0x0f; BYTE $0x1f; BYTE $0x44; BYTE $0x00; BYTE $0x00
	BYTE	$0x9c			// PUSHFQ: the assembler counts its own
	BYTE	$0x58			// POPQ AX
	CLD
	MOVQ	AX, ret+0(FP)
	RET

// func interruptedBackward() uint64
//
// Interrupt vecBackward while DF is set, and the flags after it.
TEXT ·interruptedBackward(SB),NOSPLIT|NOFRAME,$0-8
	STD
	INT	$const_vecBackward
	BYTE	$0x9c			// PUSHFQ
	BYTE	$0x58			// POPQ AX
	CLD
	MOVQ	AX, ret+0(FP)
	RET
