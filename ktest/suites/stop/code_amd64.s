//go:build tamago

#include "textflag.h"

// func loopForever(entered *atomic.Uint32)
TEXT ·loopForever(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	8(SP), AX
	MOVL	$1, (AX)
again:
	PAUSE
	JMP	again

// Where loopForever would return, if it did.
TEXT ·loopExit(SB),NOSPLIT|NOFRAME,$0
	RET

// func deaf(entered, leave *atomic.Uint32)
TEXT ·deaf(SB),NOSPLIT,$0-16
	MOVQ	entered+0(FP), AX
	MOVQ	leave+8(FP), CX
	CLI
	MOVL	$1, (AX)
again:
	PAUSE
	CMPL	(CX), $0
	JEQ	again
	STI
	RET

// func answer() uint64
// Its first instruction has 5 bytes.
TEXT ·answer(SB),NOSPLIT|NOFRAME,$0-8
	MOVL	$1, AX
	MOVQ	AX, ret+0(FP)
	RET

// The same with another answer.
TEXT ·other(SB),NOSPLIT|NOFRAME,$0-8
	MOVL	$2, AX
	MOVQ	AX, ret+0(FP)
	RET

// Nothing executes this code.
TEXT ·sled(SB),NOSPLIT|NOFRAME,$0
	LONG	$0x03020100; LONG $0x07060504; LONG $0x0b0a0908; LONG $0x0f0e0d0c
	LONG	$0x13121110; LONG $0x17161514; LONG $0x1b1a1918; LONG $0x1f1e1d1c
	LONG	$0x23222120; LONG $0x27262524; LONG $0x2b2a2928; LONG $0x2f2e2d2c
	RET

// func addresses() (exit, answer, other, sled uintptr)
TEXT ·addresses(SB),NOSPLIT,$0-32
	MOVQ	$·loopExit(SB), AX
	MOVQ	AX, exit+0(FP)
	MOVQ	$·answer(SB), AX
	MOVQ	AX, answer+8(FP)
	MOVQ	$·other(SB), AX
	MOVQ	AX, other+16(FP)
	MOVQ	$·sled(SB), AX
	MOVQ	AX, sled+24(FP)
	RET
