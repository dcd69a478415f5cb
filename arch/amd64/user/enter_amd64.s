// Entering and leaving ring 3: the package comment has the picture. Interrupts are off in all of
// it.
//
// Where the processor lacks FSGSBASE, its instructions here become calls of routines that lose CX
// and DX: see alternatives.go. So they have AX as their operand and a stack that can be pushed to.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"
#include "context_amd64.h"

// Instructions that the assembler does not have.
#define SYSRETQ	BYTE $0x48; SYSRET

#define USER	Context_user
#define FX(off)	(Context_fx+off)
#define XMM(i)	(Context_fx+const_fxXMM+16*i)

// CLOCK reads the TSC into AX; DX is lost.
#define CLOCK \
	RDTSC; \
	SHLQ	$32, DX; \
	ORQ	DX, AX

// BYSYSRET enters by SYSRET with the Regs of the Context at R15: GS is the program's.
#define BYSYSRET \
	MOVQ	(REGS+regs_R14)(R15), R14; \
	MOVQ	(REGS+regs_R13)(R15), R13; \
	MOVQ	(REGS+regs_R12)(R15), R12; \
	MOVQ	(REGS+regs_BP)(R15), BP; \
	MOVQ	(REGS+regs_BX)(R15), BX; \
	MOVQ	(REGS+regs_R11)(R15), R11;	/* flags */ \
	MOVQ	(REGS+regs_R10)(R15), R10; \
	MOVQ	(REGS+regs_R9)(R15), R9; \
	MOVQ	(REGS+regs_R8)(R15), R8; \
	MOVQ	(REGS+regs_AX)(R15), AX; \
	MOVQ	(REGS+regs_CX)(R15), CX;	/* IP */ \
	MOVQ	(REGS+regs_DX)(R15), DX; \
	MOVQ	(REGS+regs_SI)(R15), SI; \
	MOVQ	(REGS+regs_DI)(R15), DI; \
	MOVQ	(REGS+regs_SP)(R15), SP; \
	MOVQ	(REGS+regs_R15)(R15), R15; \
	SYSRETQ

// func enter(c *Context)
TEXT ·enter(SB),NOSPLIT,$0-8
	MOVQ	c+0(FP), R15
	CLI
	MOVQ	0(GS), R13
	MOVQ	R15, AX
	XCHGQ	AX, (R3+ring3_Context)(R13)	// a barrier: who wants this CPU from now on sends an interrupt
	INCQ	(R3+ring3_Entered)(R13)
	MOVQ	(TLS), R14
	CMPQ	const_stackGuard(R14), $const_stackPreempt
	JEQ	wanted
	CMPL	Context_kick(R15), $0
	JNE	look
free:
	CMPQ	const_gUser(R14), R15	// user is at the beginning of Context
	JNE	new
	MOVQ	(R3+ring3_Wanted)(R13), AX
	CMPL	(AX), $0
	JNE	wanted
	CLOCK
	MOVQ	AX, Context_entered(R15)
	SUBQ	(USER+user_Left)(R15), AX
	ADDQ	AX, Context_elsewhere(R15)
	MOVQ	SP, Context_kernelSP(R15)
	MOVQ	BP, Context_kernelBP(R15)
	RDFSBASEQ AX
	MOVQ	AX, Context_kernelFS(R15)
	MOVQ	Context_FSBase(R15), AX
	WRFSBASEQ AX
	// Tables. Ring3.CR3 is stored before CR3 is loaded: see usermode.Shootdown.
	MOVQ	Context_table(R15), AX
	MOVQ	Context_generation(R15), CX
	MOVQ	(CX), CX
	CMPQ	AX, (R3+ring3_CR3)(R13)
	JNE	load
	CMPQ	CX, (R3+ring3_Generation)(R13)
	JEQ	loaded
load:
	MOVQ	AX, (R3+ring3_CR3)(R13)
	MOVQ	CX, (R3+ring3_Generation)(R13)
	MOVQ	AX, CR3
loaded:
	MOVQ	Context_id(R15), AX
	CMPQ	AX, (R3+ring3_X87)(R13)
	JNE	restore
	CMPQ	R13, Context_x87(R15)
	JEQ	x87
restore:
	MOVQ	AX, (R3+ring3_X87)(R13)
	MOVQ	R13, Context_x87(R15)
	MOVL	$-1, AX			// the mask of XRSTOR: see alternatives.go
	FXRSTOR64 (USER+user_X87)(R15)
	MOVQ	Context_tsd(R15), AX
	CMPQ	AX, (R3+ring3_TSD)(R13)
	JNE	tsc
x87:
	MOVL	$1, (USER+user_Live)(R15)
	LDMXCSR	FX(const_fxMXCSR)(R15)
	LOADXMM
	MOVUPS	XMM(15)(R15), X15
	MOVQ	Context_GSBase(R15), AX
	SWAPGS
	WRGSBASEQ AX
	MOVQ	(R3+ring3_StepIDT)(R13), AX
	TESTQ	AX, AX
	JEQ	ready
	LIDT	(AX)
	MOVL	$1, Context_steps(R15)
ready:
	CMPL	Context_sysret(R15), $0
	JNE	sysret
	JMP	·byIret(SB)
sysret:
	BYSYSRET
tsc:
	MOVQ	AX, (R3+ring3_TSD)(R13)
	MOVQ	CR4, CX
	ANDQ	$~const_tsd, CX
	ORQ	AX, CX
	MOVQ	CX, CR4
	JMP	x87
look:
	TESTL	$const_kicked, Context_kick(R15)
	JNE	wanted
	MOVL	cpu_ID(R13), CX
	BTL	CX, Context_cpus(R15)
	JCS	free
	CMPL	Context_cpus(R15), $0	// bound no more
	JEQ	free
	MOVL	$const_elsewhere, AX
	JMP	stays
new:
	MOVL	$const_newGoroutine, AX
	JMP	stays
wanted:
	MOVL	$const_NotEntered, AX
stays:
	MOVQ	$0, (R3+ring3_Context)(R13)
	MOVQ	AX, (REGS+regs_Vector)(R15)
	STI
	RET

// byIret enters by IRETQ: the Regs at R15 are in the order in which it pops them.
TEXT ·byIret(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LEAQ	Context_Regs(R15), SP
	POPQ	R15
	POPQ	R14
	POPQ	R13
	POPQ	R12
	POPQ	BP
	POPQ	BX
	POPQ	R11
	POPQ	R10
	POPQ	R9
	POPQ	R8
	POPQ	AX
	POPQ	CX
	POPQ	DX
	POPQ	SI
	POPQ	DI
	ADDQ	$16, SP			// vector, error
	IRETQ

// fromTrap is where traps from ring 3 come, GS being the kernel's again. The entry
// stack has
//
//	0 vector  8 error  16 IP  24 CS  32 FLAGS  40 SP  48 SS
TEXT ·fromTrap(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	PUSHQ	R15
	MOVQ	(R3+ring3_Context)(GS), R15
	SAVEREGS(R15)
	POPQ	(REGS+regs_R15)(R15)
	POPQ	(REGS+regs_Vector)(R15)
	POPQ	(REGS+regs_Err)(R15)
	POPQ	(REGS+regs_IP)(R15)
	POPQ	(REGS+regs_CS)(R15)
	POPQ	(REGS+regs_Flags)(R15)
	POPQ	(REGS+regs_SP)(R15)
	POPQ	(REGS+regs_SS)(R15)
	PUSHQ	$const_flagsFixed	// AC and DF are the program's still: SMAP would be off
	POPFQ
	MOVQ	(REGS+regs_Vector)(R15), AX
	CMPQ	AX, $const_exceptions
	JHS	counted			// trap.entry will
	MOVQ	0(GS), R13
	INCQ	cpu_counts(R13)(AX*8)
	MOVL	$const_selKernelData, CX
	MOVW	CX, SS			// as after SYSCALL and IRETQ: the CPU has made it 0
counted:
	CMPQ	AX, $const_pageFault
	JNE	other
	MOVQ	CR2, AX
	MOVQ	AX, Context_CR2(R15)
	JMP	·leave(SB)
other:
	CMPQ	AX, $const_debug
	JNE	leaves
	MOVQ	DR6, AX
	MOVQ	AX, Context_DR6(R15)
	MOVL	$const_dr6Fixed, CX
	MOVQ	CX, DR6			// it only ever gains bits
	TESTQ	$const_dr6Watched, AX
	JNE	leaves
	CMPQ	Context_probes(R15), $0
	JEQ	leaves
	CMPL	Context_steps(R15), $0	// leave loads the usual IDT
	JNE	leaves
	JMP	·hit(SB)
leaves:
	JMP	·leave(SB)

// SYSCALL leads to fromSyscall: IP is in CX, flags in R11, SP and GS are the program's.
TEXT ·fromSyscall(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	SWAPGS
	MOVQ	SP, (R3+ring3_SP)(GS)
	MOVQ	(R3+ring3_Context)(GS), SP
	MOVQ	R15, (REGS+regs_R15)(SP)
	SAVEREGS(SP)
	MOVQ	R11, (REGS+regs_Flags)(SP)
	MOVQ	AX, (REGS+regs_Err)(SP)
	MOVQ	CX, (REGS+regs_IP)(SP)
	MOVQ	SP, R15
	CMPQ	CX, Context_returns(R15)	// 0: of none
	JEQ	return
	MOVQ	(R3+ring3_SP)(GS), CX
	MOVQ	CX, (REGS+regs_SP)(R15)
	MOVQ	$const_SystemCall, (REGS+regs_Vector)(R15)
	CMPQ	AX, $const_calls
	JHS	long
	LEAQ	·short(SB), CX
	CMPB	(CX)(AX*1), $0
	JEQ	long
	JMP	·answer(SB)
return:
	MOVQ	(R3+ring3_SP)(GS), CX
	MOVQ	CX, (REGS+regs_SP)(R15)
	MOVQ	$const_SystemCall, (REGS+regs_Vector)(R15)
	CMPL	Context_steps(R15), $0
	JNE	long
	JMP	·hit(SB)
long:
	JMP	·leave(SB)

// answer makes a short call: see short.go. All is as leave finds it, and so it is for leave again
// if the call cannot be short. Its caller is Run, for whoever looks at the stack.
TEXT ·answer(SB),NOSPLIT|NOFRAME,$0-8
	TESTQ	$const_flagTF, R11
	JNE	long
	CMPL	Context_steps(R15), $0
	JNE	long
	MOVQ	Context_kernelSP(R15), SP
	MOVQ	Context_kernelBP(R15), BP
	RDFSBASEQ AX
	MOVQ	AX, Context_FSBase(R15)
	MOVQ	Context_kernelFS(R15), AX
	WRFSBASEQ AX
	CLOCK
	MOVQ	AX, (USER+user_Left)(R15)
	SUBQ	Context_entered(R15), AX
	ADDQ	AX, Context_program(R15)
	MOVUPS	X15, XMM(15)(R15)
	XORPS	X15, X15
	MOVQ	(TLS), R14
	MOVQ	·shortCall(SB), DX
	MOVQ	(DX), CX
	CALL	CX			// AX: the result, BX: whether there is one
	MOVQ	(R3+ring3_Context)(GS), R15
	TESTB	BX, BX
	JEQ	refused
	MOVQ	AX, (REGS+regs_AX)(R15)
refused:
	MOVUPS	XMM(15)(R15), X15
	MOVQ	Context_FSBase(R15), AX
	WRFSBASEQ AX
	CLOCK
	MOVQ	AX, Context_entered(R15)
	SUBQ	(USER+user_Left)(R15), AX
	ADDQ	AX, Context_elsewhere(R15)
	TESTB	BX, BX
	JEQ	long
	SWAPGS
	BYSYSRET
long:
	JMP	·leave(SB)

// leave: R15 is the Context, whose Regs are filled in; GS is the kernel's.
TEXT ·leave(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	Context_kernelSP(R15), SP
	MOVQ	Context_kernelBP(R15), BP
	SWAPGS
	RDGSBASEQ AX
	SWAPGS
	MOVQ	AX, Context_GSBase(R15)
	MOVQ	0(GS), R13
	CMPL	Context_steps(R15), $0
	JEQ	usual
	MOVQ	(R3+ring3_UsualIDT)(R13), AX
	LIDT	(AX)
	MOVL	$0, Context_steps(R15)
usual:
	RDFSBASEQ AX
	MOVQ	AX, Context_FSBase(R15)
	MOVQ	Context_kernelFS(R15), AX
	WRFSBASEQ AX
	MOVQ	$0, (R3+ring3_Context)(R13)	// from here on FS is the kernel's: trap.takeOurs
	CLOCK
	MOVQ	AX, (USER+user_Left)(R15)
	SUBQ	Context_entered(R15), AX
	ADDQ	AX, Context_program(R15)
	STMXCSR	FX(const_fxMXCSR)(R15)
	MOVUPS	X0, XMM(0)(R15)
	MOVUPS	X1, XMM(1)(R15)
	MOVUPS	X2, XMM(2)(R15)
	MOVUPS	X3, XMM(3)(R15)
	MOVUPS	X4, XMM(4)(R15)
	MOVUPS	X5, XMM(5)(R15)
	MOVUPS	X6, XMM(6)(R15)
	MOVUPS	X7, XMM(7)(R15)
	MOVUPS	X8, XMM(8)(R15)
	MOVUPS	X9, XMM(9)(R15)
	MOVUPS	X10, XMM(10)(R15)
	MOVUPS	X11, XMM(11)(R15)
	MOVUPS	X12, XMM(12)(R15)
	MOVUPS	X13, XMM(13)(R15)
	MOVUPS	X14, XMM(14)(R15)
	MOVUPS	X15, XMM(15)(R15)
	LDMXCSR	·kernelMXCSR(SB)
	MOVQ	(REGS+regs_Vector)(R15), AX
	CMPQ	AX, $const_exceptions
	JLO	event
	CMPQ	AX, $const_SystemCall
	JHS	event
	// An interrupt: it is taken again, at back.
	MOVQ	SP, CX
	MOVQ	(R3+ring3_Stack)(R13), SP
	PUSHQ	$const_selKernelData
	PUSHQ	CX
	PUSHQ	$const_flagsFixed
	PUSHQ	$const_selKernelCode
	LEAQ	·back(SB), CX
	PUSHQ	CX
	PUSHQ	$0			// error code
	PUSHQ	AX
	JMP	(R3+ring3_Kernel)(R13)
event:
	JMP	·back(SB)

// back returns from enter: SP is as it was when enter was called.
TEXT ·back(SB),NOSPLIT|NOFRAME,$0-8
	STI
	RET
