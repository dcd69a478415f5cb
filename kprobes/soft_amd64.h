// The way into a handler without a trap, and back: what detour_amd64.s and
// return_amd64.s share.
//
// To the handler it looks as if the code had been interrupted. Regs.SP is the SP
// before; Regs.IP is the handler's to set. Nothing is masked: interrupts stay as
// they are (kprobes.txt §5: such handlers run without interrupts disabled). So
// everything is kept on stacks, never in the CPU's own memory, which an
// interrupt's probes use as well; and the frame is filled after SP has moved to
// it, because an interrupt would take the same place otherwise. What is pushed
// here goes below the SP of code that may have used up its stack: the runtime's
// guard is larger for that, by eight words (overlay, stackGuard).
//
// The frame is where nothing else has one, above the trap stack, if that is free. What
// is the same in each such frame is there from boot on (trap, soft_tamago.go): CS, SS,
// Err, the CPU and its state.
//
// None of this may depend on where it is, because it is copied: what it needs is
// found at the GS base (trap.CPU), and the rest is immediates (detour/template.go).
// Memory accesses, and above all jumps to other pages, are what an emulator takes
// time for: so what is rare is out of the way, in the macros whose names end in
// _RARE, but on the same page.

#include "go_asm.h"

// The trap stack of this CPU, which is at the GS base: hi, g.
#define HI	(trapCPU_stacks+8)(GS)
#define GOF	(trapCPU_stacks+16)(GS)

#define REGS	trapFrame__size
#define FRAME	(trapFrame__size+regs__size)

// A field of the CPU's state.
#define STATE(field)	(trapCPU_State+field)(GS)

// SAVE leaves SP at the frame, the registers in it, and the g of the stack as the
// current one. It writes flags, without DF, and saved at once.
#define SAVE(vector) \
	PUSHFQ; \
	PUSHQ	R15; \
	CMPQ	SP, HI; \
	JLS	nested; \
	MOVQ	HI, R15; \
	XCHGQ	R15, SP; \
	MOVQ	R14, (REGS+regs_R14)(SP); \
	MOVQ	GOF, R14; \
chosen: \
	MOVQ	R13, (REGS+regs_R13)(SP); \
	MOVQ	AX, (REGS+regs_AX)(SP); \
	MOVQ	CX, (REGS+regs_CX)(SP); \
	MOVQ	0(R15), AX; \
	MOVQ	8(R15), CX; \
	ADDQ	$16, R15; \
	MOVQ	AX, (REGS+regs_R15)(SP); \
	MOVQ	CX, (REGS+regs_Flags)(SP); \
	ANDQ	$~const_flagDF, CX; \
	MOVQ	CX, trapFrame_flags(SP); \
	MOVQ	R15, (REGS+regs_SP)(SP); \
	MOVQ	BX, (REGS+regs_BX)(SP); \
	MOVQ	BP, (REGS+regs_BP)(SP); \
	MOVQ	DX, (REGS+regs_DX)(SP); \
	MOVQ	SI, (REGS+regs_SI)(SP); \
	MOVQ	DI, (REGS+regs_DI)(SP); \
	MOVQ	R8, (REGS+regs_R8)(SP); \
	MOVQ	R9, (REGS+regs_R9)(SP); \
	MOVQ	R10, (REGS+regs_R10)(SP); \
	MOVQ	R11, (REGS+regs_R11)(SP); \
	MOVQ	R12, (REGS+regs_R12)(SP); \
	MOVQ	$vector, (REGS+regs_Vector)(SP); \
	MOVUPS	X15, (trapFrame_xmm+240)(SP); \
	XORPS	X15, X15; \
	CLD; \
	MOVQ	(TLS), AX; \
	MOVQ	AX, trapFrame_g(SP); \
	MOVQ	R14, (TLS); \
	XORL	BP, BP

// SAVE_RARE is for a hit on the trap stack, or on another that is not a goroutine's. Its
// frame goes below, and all of it is written.
#define SAVE_RARE \
nested: \
	MOVQ	0(GS), R15; \
	PUSHQ	R14; \
	PUSHQ	R13; \
	PUSHQ	AX; \
	LEAQ	24(SP), R13; \
	CALL	trapCPU_choose(R15); \
	LEAQ	-FRAME(R13), R15; \
	XCHGQ	R15, SP; \
	MOVL	trapCPU_ID(GS), R13; \
	MOVQ	trapCPU_probes(GS), AX; \
	MOVQ	R13, trapFrame_cpu(SP); \
	MOVQ	AX, trapFrame_probes(SP); \
	MOVQ	$const_selCode, (REGS+regs_CS)(SP); \
	MOVQ	$const_selData, (REGS+regs_SS)(SP); \
	MOVQ	$0, (REGS+regs_Err)(SP); \
	MOVQ	16(R15), AX; \
	MOVQ	AX, (REGS+regs_R14)(SP); \
	MOVQ	8(R15), R13; \
	MOVQ	0(R15), AX; \
	ADDQ	$24, R15; \
	JMP	chosen

// RESTORE restores all but IP, without an IRETQ, which is expensive. OF comes from an
// addition that overflows, the other flags from AH. The sum is 0x7f or 0x80, which
// both clear PF, and memory is accessed before SAHF: QEMU 7.2 takes PF from the sum, as
// its memory has it then, for a CMPXCHG16B in the copy, whatever AH said
// (optimized/every_boundary_of_every_shape). Once SP is back an interrupt may overwrite the frame.
#define RESTORE \
	MOVQ	(REGS+regs_Flags)(SP), AX; \
	CMPQ	AX, trapFrame_flags(SP); \
	JNE	odd; \
even: \
	MOVQ	trapFrame_g(SP), DI; \
	MOVUPS	(trapFrame_xmm+240)(SP), X15; \
	MOVQ	DI, (TLS); \
	BTL	$const_bitOF, AX; \
	SETCS	BX; \
	MOVB	AL, AH; \
	ADDB	$0x7f, BX; \
	MOVQ	(REGS+regs_BX)(SP), BX; \
	SAHF; \
	MOVQ	(REGS+regs_AX)(SP), AX; \
	MOVQ	(REGS+regs_CX)(SP), CX; \
	MOVQ	(REGS+regs_DX)(SP), DX; \
	MOVQ	(REGS+regs_SI)(SP), SI; \
	MOVQ	(REGS+regs_DI)(SP), DI; \
	MOVQ	(REGS+regs_BP)(SP), BP; \
	MOVQ	(REGS+regs_R8)(SP), R8; \
	MOVQ	(REGS+regs_R9)(SP), R9; \
	MOVQ	(REGS+regs_R10)(SP), R10; \
	MOVQ	(REGS+regs_R11)(SP), R11; \
	MOVQ	(REGS+regs_R12)(SP), R12; \
	MOVQ	(REGS+regs_R13)(SP), R13; \
	MOVQ	(REGS+regs_R14)(SP), R14; \
	MOVQ	(REGS+regs_R15)(SP), R15; \
	MOVQ	(REGS+regs_SP)(SP), SP

// RESTORE_IP, in front of RESTORE, puts IP where SP will be, for a RET.
#define RESTORE_IP \
	MOVQ	(REGS+regs_IP)(SP), CX; \
	MOVQ	(REGS+regs_SP)(SP), DX; \
	SUBQ	$8, DX; \
	MOVQ	CX, (DX); \
	MOVQ	DX, (REGS+regs_SP)(SP)

// RESTORE_RARE is for when X0-X14 are to be restored, or DF. A handler that has
// changed the flags needs an IRETQ: label changed, which ends with IRET.
#define RESTORE_RARE \
odd: \
	MOVL	AX, BX; \
	ANDL	$~const_flagDF, BX; \
	CMPL	BX, trapFrame_flags(SP); \
	JNE	changed; \
	CMPL	trapFrame_saved(SP), $0; \
	JEQ	direction; \
	CALL	trapCPU_loadXMM(GS); \
direction: \
	TESTL	$const_flagDF, AX; \
	JEQ	even; \
	STD; \
	JMP	even

// IRET restores everything.
#define IRET \
	JMP	trapCPU_restore(GS)
