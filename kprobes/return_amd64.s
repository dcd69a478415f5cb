//go:build tamago

#include "textflag.h"
#include "soft_amd64.h"

// trampoline is where probed functions return to: a soft trap with vector VecReturn. For
// one return handler of the usual kind it does what onReturn and afterReturn
// (kretprobe_trap.go) do; everything else goes to them.
//
// Mirrors onReturn, (*state).afterReturn, giveBack, (*pool).put, (*freeList).push: go b316a6f5904c, asm 51fffd09f3aa.
TEXT ·trampoline(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PCALIGN $2048			// all on one page
	BYTE	$0x90			// the runtime looks at the byte before a return address
	SAVE(const_vecReturn)		// PUSHFQ where the return address was
	MOVQ	trapCPU_probes(GS), SI
	CMPL	state_phase(SI), $const_idle
	JNE	slow
	MOVL	$const_returning, state_phase(SI)
	INCQ	state_soft(SI)
	LEAQ	REGS(SP), BX
	MOVQ	BX, const_stateFrame(SI)

	// AX is the call, the innermost of g's list. It has no second return probe.
	MOVQ	trapFrame_g(SP), DI
	MOVQ	const_stackHi(DI), R9
	ADDQ	$const_gCalls, DI
	MOVQ	(DI), AX
	SUBQ	(REGS+regs_SP)(SP), R9
	ADDQ	$8, R9
	TESTQ	AX, AX
	JEQ	other
	CMPQ	ret_off(AX), R9
	JNE	other
	MOVQ	ret_next(AX), CX
	TESTQ	CX, CX
	JEQ	single
	CMPQ	ret_off(CX), R9
	JEQ	other
single:
	MOVQ	KretprobeInstance_RP(AX), R8
	MOVL	(Kretprobe_KP+Kprobe_Flags)(R8), CX
	ANDL	$const_flagsReturn, CX
	CMPL	CX, $const_flagRegistered
	JNE	other
	MOVQ	Kretprobe_direct(R8), DX
	TESTQ	DX, DX
	JEQ	other

	MOVQ	ret_RetAddr(AX), CX
	MOVQ	CX, (REGS+regs_IP)(SP)
	INCQ	const_stateSeq(SI)
	MOVQ	R8, const_stateProbe(SI)
	MOVQ	(DX), CX
	CALL	CX
	MOVQ	trapCPU_probes(GS), SI
	MOVQ	const_stateProbe(SI), R8
	MOVQ	state_part(SI), R9
	MOVQ	$0, const_stateProbe(SI)
	MOVQ	R9, R10
	ADDQ	(Kretprobe_KP+Kprobe_ledger)(R8), R10
	INCQ	(const_accountN+8*const_handled)(R10)

	// The instance leaves the list and returns to the pool.
	MOVQ	trapFrame_g(SP), DI
	ADDQ	$const_gCalls, DI
	MOVQ	(DI), BX
	MOVQ	ret_next(BX), CX
	MOVQ	CX, (DI)
	MOVB	$0, KretprobeInstance_busy(BX)
	ADDQ	(Kretprobe_pool+pool_lists)(R8), R9
again:
	MOVQ	freeList_head(R9), AX
	MOVL	AX, CX
	MOVQ	CX, KretprobeInstance_nextFree(BX)
	MOVQ	AX, DX
	SHRQ	$32, DX
	INCQ	DX
	SHLQ	$32, DX
	ORQ	KretprobeInstance_index1(BX), DX
	LOCK
	CMPXCHGQ	DX, freeList_head(R9)
	JNE	again
	MOVL	$const_idle, state_phase(SI)
back:
	RESTORE_IP
	RESTORE
	BYTE	$0xc3			// RET; the assembler has counted pushes

other:
	MOVL	$const_idle, state_phase(SI)
slow:
	LEAQ	REGS(SP), AX
	MOVQ	state_onReturn(SI), CX
	CALL	CX
	JMP	back
	SAVE_RARE
	RESTORE_RARE
changed:
	ADDQ	$8, (REGS+regs_SP)(SP)	// undo what RESTORE_IP did
	IRET
