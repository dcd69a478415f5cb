// Traps without a trap: code that jumps here looks to the handler as if it had
// been interrupted.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "frame_amd64.h"

// A jump to SoftReturn or SoftDetour is a trap of VecReturn or VecDetour. The
// jumper has pushed its flags and R15; R15 is what the handler will find in
// Regs.Err. Regs.SP will be above the two; Regs.IP is the handler's to set.
//
// Nothing is masked: interrupts stay as they are (spec/4 §5: such handlers run
// without interrupts disabled). So everything is kept on stacks, never in the
// CPU's own memory, which an interrupt's probes use as well; and the frame is
// filled after SP has moved to it, because an interrupt would take the same
// place otherwise. What is pushed here goes below the SP of code that may have
// used up its stack: the runtime's guard is larger for that (overlay,
// stackGuard).
//
// The way back needs no IRETQ, which is dear, as long as the handler leaves the
// flags alone but for the arithmetic ones.
TEXT ·SoftReturn(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PUSHQ	R14
	MOVL	$const_VecReturn, R14
	JMP	·soft(SB)

TEXT ·SoftDetour(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PUSHQ	R14
	MOVL	$const_VecDetour, R14
	JMP	·soft(SB)

// soft: R14 is the vector, R15 the argument. The stack:
//
//	0 AX  8 R13  16 vector  24 argument  32 R14  40 R15  48 flags
TEXT ·soft(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PUSHQ	R15
	PUSHQ	R14
	PUSHQ	R13
	PUSHQ	AX
	MOVQ	0(GS), R15
	LEAQ	0(SP), R13
	CHOOSE
	SUBQ	$FRAME, R13
	XCHGQ	R13, SP
	MOVQ	BX, (REGS+const_regBX)(SP)
	MOVQ	CX, (REGS+const_regCX)(SP)
	MOVQ	DX, (REGS+const_regDX)(SP)
	MOVQ	0(R13), BX		// AX
	MOVQ	8(R13), CX		// R13
	MOVQ	16(R13), DX		// vector
	MOVQ	BX, (REGS+const_regAX)(SP)
	MOVQ	CX, (REGS+const_regR13)(SP)
	MOVQ	DX, (REGS+const_regVector)(SP)
	MOVQ	24(R13), AX		// argument
	MOVQ	32(R13), BX		// R14
	MOVQ	40(R13), CX		// R15
	MOVQ	AX, (REGS+const_regErr)(SP)
	MOVQ	BX, (REGS+const_regR14)(SP)
	MOVQ	CX, (REGS+const_regR15)(SP)
	MOVQ	48(R13), AX		// flags
	ADDQ	$56, R13
	MOVQ	AX, (REGS+const_regFlags)(SP)
	MOVQ	AX, FLAGS(SP)
	MOVQ	R13, (REGS+const_regSP)(SP)
	MOVQ	BP, (REGS+const_regBP)(SP)
	MOVQ	SI, (REGS+const_regSI)(SP)
	MOVQ	DI, (REGS+const_regDI)(SP)
	MOVQ	R8, (REGS+const_regR8)(SP)
	MOVQ	R9, (REGS+const_regR9)(SP)
	MOVQ	R10, (REGS+const_regR10)(SP)
	MOVQ	R11, (REGS+const_regR11)(SP)
	MOVQ	R12, (REGS+const_regR12)(SP)
	MOVQ	$const_selCode, (REGS+const_regCS)(SP)
	MOVQ	$const_selData, (REGS+const_regSS)(SP)
	MOVUPS	X15, (XMM+240)(SP)
	MOVQ	$0, SAVED(SP)
	CMPB	·lazyXMM(SB), $0
	JNE	lazy
	MOVQ	SP, CX
	CALL	·saveXMM(SB)
lazy:
	XORPS	X15, X15
	CLD
	MOVQ	(TLS), AX
	MOVL	CPU_ID(R15), CX
	MOVQ	AX, G(SP)
	MOVQ	CX, CPUID(SP)
	MOVQ	R14, (TLS)
	LEAQ	·handlers(SB), CX
	MOVQ	(CX)(DX*8), DX		// a func value: DX is its context
	MOVQ	(DX), CX
	LEAQ	REGS(SP), AX
	XORL	BP, BP			// frame pointers end here
	CALL	CX

	// Flags that only IRETQ loads, and a handler that made an exception of it,
	// go back as from a trap.
	MOVQ	(REGS+const_regFlags)(SP), AX
	MOVQ	FLAGS(SP), BX
	MOVQ	AX, CX
	XORQ	AX, BX			// what the handler changed
	ANDQ	$const_flagDF, CX
	ORQ	CX, BX
	TESTQ	$~const_flagsArith, BX
	JNE	iret
	MOVQ	(REGS+const_regIP)(SP), CX
	MOVQ	(REGS+const_regSP)(SP), DX
	CMPQ	(REGS+const_regVector)(SP), $const_VecDetour
	JNE	notDetour
	SUBQ	$const_DetourBack, CX	// the instruction that is softRet's first
back:
	MOVQ	CX, (REGS+const_regIP)(SP)
	MOVQ	G(SP), DI
	MOVUPS	(XMM+240)(SP), X15
	MOVQ	DI, (TLS)
	CMPQ	SAVED(SP), $0
	JEQ	general
	CALL	·loadXMM(SB)
general:
	// The arithmetic flags: OF by an addition that overflows, the others from AH.
	MOVQ	AX, BX
	SHRQ	$11, BX
	ANDL	$1, BX
	SHLQ	$8, AX
	ADDB	$0x7f, BX
	SAHF
	MOVQ	(REGS+const_regAX)(SP), AX
	MOVQ	(REGS+const_regBX)(SP), BX
	MOVQ	(REGS+const_regCX)(SP), CX
	MOVQ	(REGS+const_regDX)(SP), DX
	MOVQ	(REGS+const_regSI)(SP), SI
	MOVQ	(REGS+const_regDI)(SP), DI
	MOVQ	(REGS+const_regBP)(SP), BP
	MOVQ	(REGS+const_regR8)(SP), R8
	MOVQ	(REGS+const_regR9)(SP), R9
	MOVQ	(REGS+const_regR10)(SP), R10
	MOVQ	(REGS+const_regR11)(SP), R11
	MOVQ	(REGS+const_regR12)(SP), R12
	MOVQ	(REGS+const_regR13)(SP), R13
	MOVQ	(REGS+const_regR14)(SP), R14
	MOVQ	(REGS+const_regR15)(SP), R15
	JMP	(REGS+const_regIP)(SP)
notDetour:
	CMPQ	(REGS+const_regVector)(SP), $const_VecReturn
	JNE	iret
	// The address goes where the function's return address was.
	SUBQ	$8, DX
	MOVQ	CX, (DX)
	MOVQ	DX, (REGS+const_regSP)(SP)
	LEAQ	·softRet(SB), CX
	JMP	back
iret:
	JMP	·restore(SB)

// softRet leaves the frame: from here on an interrupt may overwrite it.
TEXT ·softRet(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	(REGS+const_regSP)(SP), SP
	RET

// func SoftDetourAddr() uintptr
TEXT ·SoftDetourAddr(SB),NOSPLIT,$0-8
	MOVQ	$·SoftDetour(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
