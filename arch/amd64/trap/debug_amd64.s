// The entry of #DB while something is watched: see debug_step_trap.go.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"

TEXT ·entryDebug(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PUSHQ	AX
	LEAQ	·entryDebug(SB), AX
	CMPQ	AX, 8(SP)		// interrupted IP
	JEQ	again
	MOVQ	8(SP), AX
	SUBQ	·stubs(SB), AX
	CMPQ	AX, $const_page
	JLO	faulted
	POPQ	AX
	JMP	·entryDB(SB)
faulted:
	// The first instruction of another entry. QEMU has told of a watched load, although the
	// instruction then caused a page fault: no processor does, and GS may be a program's.
	// The instruction is executed again, and told of then, if the fault is served.
	MOVL	$const_dr6Fixed, AX
	MOVQ	AX, DR6
	POPQ	AX
	IRETQ
again:
	MOVQ	32(SP), AX		// SP: the frame of the first
	TESTB	$3, 8(AX)
	JNE	dropped			// a program's
	ORL	$1, 12(AX)		// mark it, above CS: const twice
dropped:
	POPQ	AX
	IRETQ

// func debugAddress() uintptr
TEXT ·debugAddress(SB),NOSPLIT,$0-8
	MOVQ	$·entryDebug(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func lidt(idtr *[10]byte)
TEXT ·lidt(SB),NOSPLIT,$0-8
	MOVQ	idtr+0(FP), AX
	LIDT	(AX)
	RET
