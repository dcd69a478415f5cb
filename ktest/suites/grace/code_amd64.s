//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func plain() uint64
// XORL, 2 bytes, and MOVL are a region. A copy of XORL comes back into it.
TEXT ·plain(SB),NOSPLIT|NOFRAME,$0-8
	XORL	CX, CX
	MOVL	$1, AX
	MOVQ	AX, ret+0(FP)
	RET

// As plain, with another result: for a probe whose copy is told from plain's.
TEXT ·plainTwin(SB),NOSPLIT|NOFRAME,$0-8
	XORL	CX, CX
	MOVL	$2, AX
	MOVQ	AX, ret+0(FP)
	RET

// func deaf(entered, leave *atomic.Uint32) uint64
// Interrupts are off from before *entered is set. An interrupt that is waiting when
// *leave is set comes after the first instruction of opening.
TEXT ·deaf(SB),NOSPLIT|NOFRAME,$0-24
	MOVQ	8(SP), DX
	MOVQ	16(SP), CX
	BYTE	$0x9c			// PUSHFQ: the assembler counts its own
	CLI
	MOVL	$1, (DX)
again:
	PAUSE
	CMPL	(CX), $0
	JEQ	again
	JMP	·opening(SB)

// POPFQ, 1 byte, and MOVL are a region.
TEXT ·opening(SB),NOSPLIT|NOFRAME,$0
	BYTE	$0x9d			// POPFQ
	MOVL	$1, AX
	MOVQ	AX, 24(SP)
	RET

// func inside(entered, pending *atomic.Uint32) uint64
// Interrupts are off from before *entered is set until *pending, a register of the
// local APIC, says that the CPU is to stop. STI lets interrupts in after the next
// instruction: the CPU stops after the first instruction of opening. The address is
// computed, because the optimizer refuses a place that a branch leads into.
TEXT ·inside(SB),NOSPLIT|NOFRAME,$0-24
	MOVQ	8(SP), DX
	MOVQ	16(SP), CX
	MOVQ	$·opening(SB), AX
	INCQ	AX
	CLI
	MOVL	$1, (DX)
wait:
	PAUSE
	TESTL	$const_stopPending, (CX)
	JEQ	wait
	STI
	JMP	AX

// As opening, with another result.
TEXT ·openingTwin(SB),NOSPLIT|NOFRAME,$0
	BYTE	$0x9d			// POPFQ
	MOVL	$2, AX
	MOVQ	AX, 24(SP)
	RET

// func places() (plain, plainTwin, opening, openingTwin uintptr)
TEXT ·places(SB),NOSPLIT,$0-32
	MOVQ	$·plain(SB), AX
	MOVQ	AX, plain+0(FP)
	MOVQ	$·plainTwin(SB), AX
	MOVQ	AX, plainTwin+8(FP)
	MOVQ	$·opening(SB), AX
	MOVQ	AX, opening+16(FP)
	MOVQ	$·openingTwin(SB), AX
	MOVQ	AX, openingTwin+24(FP)
	RET
