// Traps without a trap: code that jumps here looks to the handler as if it had
// been interrupted.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "frame_amd64.h"

// Return is where probed functions return to: a trap of VecReturn. Detour is what
// every detour begins with: a trap of VecDetour, after which the detour's own
// copy of instructions follows. Package optprobe copies Detour, so nothing in
// SOFT and BACK may depend on where it is: what they need is found through the
// CPU. A jump to another page is dear for an emulator; a copy has none.
//
// Regs.SP is the SP before; Regs.IP is the handler's to set. Nothing is masked:
// interrupts stay as they are (spec/4 §5: such handlers run without interrupts
// disabled). So everything is kept on stacks, never in the CPU's own memory,
// which an interrupt's probes use as well; and the frame is filled after SP has
// moved to it, because an interrupt would take the same place otherwise. What is
// pushed here goes below the SP of code that may have used up its stack: the
// runtime's guard is larger for that (overlay, stackGuard).
//
// The way back needs no IRETQ, which is dear, as long as the handler leaves the
// flags alone and makes no exception of it.

// SOFT calls the handler; R15 is what that finds in Regs.Err. The stack it finds,
// but for the upper two words, makes:
//
//	0 R13  8 R14  16 R15  24 flags
#define SOFT(vector, handler) \
	PUSHQ	R14; \
	PUSHQ	R13; \
	MOVQ	0(GS), R14; \
	MOVQ	CPU_fresh(R14), R13; \
	CMPQ	SP, (CPU_stacks+8)(R14); \
	JHI	chosen; \
	PUSHQ	AX; \
	PUSHQ	R15; \
	MOVQ	R14, R15; \
	LEAQ	16(SP), R13; \
	CALL	CPU_choose(R15); \
	SUBQ	$FRAME, R13; \
	POPQ	R15; \
	POPQ	AX; \
	MOVQ	0(GS), R14; \
chosen: \
	XCHGQ	R13, SP; \
	MOVQ	AX, (REGS+const_regAX)(SP); \
	MOVQ	CX, (REGS+const_regCX)(SP); \
	MOVQ	DX, (REGS+const_regDX)(SP); \
	MOVQ	R15, (REGS+const_regErr)(SP); \
	MOVQ	0(R13), AX; \
	MOVQ	8(R13), CX; \
	MOVQ	16(R13), DX; \
	MOVQ	24(R13), R15; \
	ADDQ	$32, R13; \
	MOVQ	AX, (REGS+const_regR13)(SP); \
	MOVQ	CX, (REGS+const_regR14)(SP); \
	MOVQ	DX, (REGS+const_regR15)(SP); \
	MOVQ	R15, (REGS+const_regFlags)(SP); \
	MOVQ	R15, FLAGS(SP); \
	MOVQ	R13, (REGS+const_regSP)(SP); \
	MOVQ	BX, (REGS+const_regBX)(SP); \
	MOVQ	BP, (REGS+const_regBP)(SP); \
	MOVQ	SI, (REGS+const_regSI)(SP); \
	MOVQ	DI, (REGS+const_regDI)(SP); \
	MOVQ	R8, (REGS+const_regR8)(SP); \
	MOVQ	R9, (REGS+const_regR9)(SP); \
	MOVQ	R10, (REGS+const_regR10)(SP); \
	MOVQ	R11, (REGS+const_regR11)(SP); \
	MOVQ	R12, (REGS+const_regR12)(SP); \
	MOVQ	$const_selCode, (REGS+const_regCS)(SP); \
	MOVQ	$const_selData, (REGS+const_regSS)(SP); \
	MOVQ	$vector, (REGS+const_regVector)(SP); \
	MOVUPS	X15, (XMM+240)(SP); \
	MOVQ	$0, SAVED(SP); \
	CMPQ	CPU_lazyXMM(R14), $0; \
	JNE	lazy; \
	MOVQ	SP, CX; \
	CALL	CPU_saveXMM(R14); \
lazy: \
	XORPS	X15, X15; \
	CLD; \
	MOVQ	(TLS), AX; \
	MOVL	CPU_ID(R14), CX; \
	MOVQ	AX, G(SP); \
	MOVQ	CX, CPUID(SP); \
	MOVQ	R14, R15; \
	MOVQ	(CPU_stacks+16)(R15), R14; \
	CMPQ	R13, (CPU_stacks+8)(R15); \
	JHI	known; \
	SUBQ	$32, R13; \
	CALL	CPU_choose(R15); \
known: \
	MOVQ	R14, (TLS); \
	MOVQ	handler(R15), DX; \
	MOVQ	(DX), CX; \
	LEAQ	REGS(SP), AX; \
	XORL	BP, BP; \
	CALL	CX

// CHECK sees whether BACK is the way.
#define CHECK(vector) \
	MOVQ	(REGS+const_regFlags)(SP), AX; \
	CMPQ	AX, FLAGS(SP); \
	JNE	iret; \
	CMPQ	(REGS+const_regVector)(SP), $vector; \
	JEQ	back; \
iret: \
	MOVQ	0(GS), R15; \
	JMP	CPU_restore(R15); \
back:

// BACK restores all but IP; AX is the flags. OF comes from an addition that
// overflows, the others from AH. Once SP is back an interrupt may overwrite the
// frame.
#define BACK \
	JMP	begin; \
restoreXMM: \
	MOVQ	0(GS), R15; \
	CALL	CPU_loadXMM(R15); \
	JMP	restored; \
setDF: \
	STD; \
	JMP	arithmetic; \
begin: \
	MOVQ	G(SP), DI; \
	MOVUPS	(XMM+240)(SP), X15; \
	MOVQ	DI, (TLS); \
	CMPQ	SAVED(SP), $0; \
	JNE	restoreXMM; \
restored: \
	TESTL	$const_flagDF, AX; \
	JNE	setDF; \
arithmetic: \
	MOVQ	AX, BX; \
	SHRQ	$11, BX; \
	ANDL	$1, BX; \
	SHLQ	$8, AX; \
	ADDB	$0x7f, BX; \
	SAHF; \
	MOVQ	(REGS+const_regAX)(SP), AX; \
	MOVQ	(REGS+const_regBX)(SP), BX; \
	MOVQ	(REGS+const_regCX)(SP), CX; \
	MOVQ	(REGS+const_regDX)(SP), DX; \
	MOVQ	(REGS+const_regSI)(SP), SI; \
	MOVQ	(REGS+const_regDI)(SP), DI; \
	MOVQ	(REGS+const_regBP)(SP), BP; \
	MOVQ	(REGS+const_regR8)(SP), R8; \
	MOVQ	(REGS+const_regR9)(SP), R9; \
	MOVQ	(REGS+const_regR10)(SP), R10; \
	MOVQ	(REGS+const_regR11)(SP), R11; \
	MOVQ	(REGS+const_regR12)(SP), R12; \
	MOVQ	(REGS+const_regR13)(SP), R13; \
	MOVQ	(REGS+const_regR14)(SP), R14; \
	MOVQ	(REGS+const_regR15)(SP), R15; \
	MOVQ	(REGS+const_regSP)(SP), SP

TEXT ·Return(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PCALIGN	$2048			// all on one page
	NOP
	PUSHFQ				// where the return address was
	PUSHQ	R15
	SOFT(const_VecReturn, CPU_onReturn)
	CHECK(const_VecReturn)
	MOVQ	(REGS+const_regIP)(SP), CX
	MOVQ	(REGS+const_regSP)(SP), DX
	SUBQ	$8, DX
	MOVQ	CX, (DX)		// where the return address was
	MOVQ	DX, (REGS+const_regSP)(SP)
	BACK
	BYTE	$0xc3			// RET; the assembler has counted pushes

TEXT ·detour(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PUSHFQ
	PUSHQ	R15
	MOVL	$const_DetourArg, R15	// in a copy, the detour's address
	SOFT(const_VecDetour, CPU_onDetour)
	CHECK(const_VecDetour)
	BACK
	UD2				// the end of what is copied

// func returnAddr() uintptr
TEXT ·returnAddr(SB),NOSPLIT,$0-8
	MOVQ	$·Return(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func detourAddr() uintptr
TEXT ·detourAddr(SB),NOSPLIT,$0-8
	MOVQ	$·detour(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func softAddresses() (choose, save, load, restore uintptr)
TEXT ·softAddresses(SB),NOSPLIT,$0-32
	MOVQ	$·choose(SB), AX
	MOVQ	AX, choose+0(FP)
	MOVQ	$·saveXMM(SB), AX
	MOVQ	AX, save+8(FP)
	MOVQ	$·loadXMM(SB), AX
	MOVQ	AX, load+16(FP)
	MOVQ	$·restore(SB), AX
	MOVQ	AX, restore+24(FP)
	RET
