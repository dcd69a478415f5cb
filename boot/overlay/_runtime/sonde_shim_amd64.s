// The entry and exit of the Linux-ABI shim: see sonde_shim.go.

#include "go_asm.h"
#include "textflag.h"

// The stub every SYSCALL of the runtime is rewritten to CALL. As SYSCALL does,
// it takes the number in AX and arguments in DI SI DX R10 R8 R9, returns in AX
// and loses CX and R11; it keeps everything else but X0-X14.
//
// The thread's registers go into its sondeThread, so that a thread that blocks
// leaves nothing on any stack, and a cloned one needs only a copy.
TEXT runtime·sondeSyscall(SB),NOSPLIT|NOFRAME,$0
	PUSHFQ
	CLI
	MOVQ	8(GS), R11		// *sondeCPU
	MOVQ	sondeCPU_cur(R11), R11	// *sondeThread
	POPQ	CX
	MOVQ	CX, sondeThread_flags(R11)
	MOVQ	AX, sondeThread_ax(R11)
	MOVQ	BX, sondeThread_bx(R11)
	MOVQ	DX, sondeThread_dx(R11)
	MOVQ	SI, sondeThread_si(R11)
	MOVQ	DI, sondeThread_di(R11)
	MOVQ	BP, sondeThread_bp(R11)
	MOVQ	R8, sondeThread_r8(R11)
	MOVQ	R9, sondeThread_r9(R11)
	MOVQ	R10, sondeThread_r10(R11)
	MOVQ	R12, sondeThread_r12(R11)
	MOVQ	R13, sondeThread_r13(R11)
	MOVQ	R14, sondeThread_r14(R11)
	MOVQ	R15, sondeThread_r15(R11)
	MOVQ	(SP), CX
	MOVQ	CX, sondeThread_ip(R11)
	LEAQ	8(SP), CX
	MOVQ	CX, sondeThread_sp(R11)
	MOVQ	8(GS), CX
	MOVQ	sondeCPU_stack(CX), SP
	XORL	BP, BP
	XORPS	X15, X15
	MOVQ	R11, AX
	MOVQ	$·sondeDispatch<ABIInternal>(SB), CX
	CALL	CX
	JMP	runtime·sondeResume(SB)

// sondeResume runs the thread in AX, with interrupts as it had them.
TEXT runtime·sondeResume(SB),NOSPLIT|NOFRAME,$0
	MOVQ	AX, R11
	MOVQ	sondeThread_ax(R11), AX
	MOVQ	sondeThread_bx(R11), BX
	MOVQ	sondeThread_dx(R11), DX
	MOVQ	sondeThread_si(R11), SI
	MOVQ	sondeThread_di(R11), DI
	MOVQ	sondeThread_bp(R11), BP
	MOVQ	sondeThread_r8(R11), R8
	MOVQ	sondeThread_r9(R11), R9
	MOVQ	sondeThread_r10(R11), R10
	MOVQ	sondeThread_r12(R11), R12
	MOVQ	sondeThread_r13(R11), R13
	MOVQ	sondeThread_r14(R11), R14
	MOVQ	sondeThread_r15(R11), R15
	MOVQ	sondeThread_ip(R11), CX
	XORPS	X15, X15
	// The flags go through the shim stack: a thread that was just cloned
	// begins with SP on its parent's stack, which is in use.
	PUSHQ	sondeThread_flags(R11)
	POPFQ
	MOVQ	sondeThread_sp(R11), SP
	JMP	CX

// sondeClock is clock_gettime(DI clock, SI *timespec) as the C function that the
// runtime expects of a vDSO: it has switched to g0 and keeps values in BX and R12.
TEXT runtime·sondeClock(SB),NOSPLIT|NOFRAME,$0
	PUSHQ	DX
	PUSHQ	BX
	PUSHQ	SI
	PUSHQ	DI
	PUSHQ	R8
	PUSHQ	R9
	PUSHQ	R10
	PUSHQ	R12
	PUSHQ	R13
	MOVQ	DI, AX
	MOVQ	SI, BX
	XORPS	X15, X15
	SUBQ	$16, SP			// where the callee may spill its arguments
	MOVQ	$·sondeClockGettime<ABIInternal>(SB), CX
	CALL	CX
	ADDQ	$16, SP
	POPQ	R13
	POPQ	R12
	POPQ	R10
	POPQ	R9
	POPQ	R8
	POPQ	DI
	POPQ	SI
	POPQ	BX
	POPQ	DX
	XORL	AX, AX
	RET

// sondeCPUStart is what goos.Task starts on each further CPU: it waits for
// threads to run. It is entered on the CPU's shim stack, interrupts off.
TEXT runtime·sondeCPUStart(SB),NOSPLIT|NOFRAME,$0
	XORL	BP, BP
	XORPS	X15, X15
	MOVQ	$·sondeFirstThread<ABIInternal>(SB), CX
	CALL	CX
	JMP	runtime·sondeResume(SB)

// func sondeWrfsbase(base uintptr)
TEXT runtime·sondeWrfsbase(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	base+0(FP), AX
	MOVQ	AX, DX
	SHRQ	$32, DX
	MOVL	$0xc0000100, CX		// MSR_FS_BASE
	WRMSR
	RET

// func sondeCPUSelf() *sondeCPU
TEXT runtime·sondeCPUSelf(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	8(GS), AX
	MOVQ	AX, ret+0(FP)
	RET

// func sondeSetCPUSelf(c *sondeCPU)
TEXT runtime·sondeSetCPUSelf(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	c+0(FP), AX
	MOVQ	AX, 8(GS)
	RET

// func sondeIRQsOn() bool
TEXT runtime·sondeIRQsOn(SB),NOSPLIT|NOFRAME,$0-1
	PUSHFQ
	POPQ	AX
	SHRQ	$9, AX		// RFLAGS_IF
	ANDL	$1, AX
	MOVB	AX, ret+0(FP)
	RET

// func sondeIRQOff() (flags uintptr)
TEXT runtime·sondeIRQOff(SB),NOSPLIT|NOFRAME,$0-8
	PUSHFQ
	POPQ	AX
	CLI
	MOVQ	AX, ret+0(FP)
	RET

// func sondeIRQRestore(flags uintptr)
TEXT runtime·sondeIRQRestore(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	flags+0(FP), AX
	PUSHQ	AX
	POPFQ
	RET

// func SondeSetTimer()
// A time of 0 is none: less 1, it is later than any other.
TEXT runtime·SondeSetTimer<ABIInternal>(SB),NOSPLIT|NOFRAME,$0
	CMPL	runtime·sondeEntered(SB), $0
	JNE	told
	MOVL	$1, runtime·sondeEntered(SB)
told:
	MOVQ	g_m(R14), AX
	MOVQ	m_p(AX), AX
	MOVQ	8(GS), DX
	MOVQ	sondeCPU_alarm(DX), DX
	DECQ	DX
	MOVQ	(p_timers+timers_minWhenHeap)(AX), CX
	DECQ	CX
	CMPQ	CX, DX
	JCS	earlier
	MOVQ	(p_timers+timers_minWhenModified)(AX), CX
	DECQ	CX
	CMPQ	CX, DX
	JCS	earlier
	RET
earlier:
	JMP	runtime·sondeSetAlarm<ABIInternal>(SB)
