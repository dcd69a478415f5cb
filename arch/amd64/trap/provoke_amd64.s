// Intentional traps, for tests and demonstrations.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func Breakpoint()
TEXT ·Breakpoint(SB),NOSPLIT,$0
	BYTE	$0xcc
	RET

// func InvalidOpcode()
TEXT ·InvalidOpcode(SB),NOSPLIT,$0
	UD2
	RET

// func WildWrite()
TEXT ·WildWrite(SB),NOSPLIT,$0
	MOVQ	$0x123456789000, AX
	MOVQ	AX, (AX)
	RET

// func WildJump()
TEXT ·WildJump(SB),NOSPLIT,$0
	MOVQ	$0x123456789000, AX
	JMP	AX

// func DoubleFault()
// A page fault whose gate leads to an unmapped stack: with the TSS gone, the
// CPU faults on delivering it.
TEXT ·DoubleFault(SB),NOSPLIT,$0
	CLI
	MOVQ	0(GS), AX
	MOVQ	$1, BX
	SHLQ	$62, BX			// not canonical
	MOVQ	BX, const_ist1(AX)
	XORL	CX, CX
	MOVQ	CX, (CX)
	RET

// func OverflowStack()
// Runs the trap stack over: recursion from within a trap.
TEXT ·OverflowStack(SB),NOSPLIT,$0
	INT	$const_vecOverflow
	RET

// The gates of Bare: the least a trap can do.
TEXT ·bareReturn(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	IRETQ

TEXT ·bareSetTF(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ORQ	$0x100, 16(SP)
	IRETQ

TEXT ·bareClearTF(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ANDQ	$~0x100, 16(SP)
	IRETQ

TEXT ·bareSetRF(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	ORQ	$0x10000, 16(SP)
	IRETQ

// func bareAddresses() (ret, set, clear, resume uintptr)
TEXT ·bareAddresses(SB),NOSPLIT,$0-32
	MOVQ	$·bareReturn(SB), AX
	MOVQ	AX, ret+0(FP)
	MOVQ	$·bareSetTF(SB), AX
	MOVQ	AX, set+8(FP)
	MOVQ	$·bareClearTF(SB), AX
	MOVQ	AX, clear+16(FP)
	MOVQ	$·bareSetRF(SB), AX
	MOVQ	AX, resume+24(FP)
	RET
