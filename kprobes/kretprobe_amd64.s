//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// trampoline is where probed functions return to. It makes a trap frame without
// a trap: SP behind the return address, all registers as the function left
// them. The flags are pushed where the return address was.
TEXT ·trampoline(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	NOP
	PUSHFQ
	PUSHQ	R15
	JMP	sonde∕arch∕amd64∕trap·SoftReturn(SB)

// func trampolineAddr() uintptr
TEXT ·trampolineAddr(SB),NOSPLIT,$0-8
	MOVQ	$·trampoline(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
