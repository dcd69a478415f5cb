// The functions of the vDSO, for programs in ring 3: the calling convention is the System V ABI's.
// They are never called where they are linked. Object copies each to its own offset in the code
// page, in front of which lies the data page; so each finds the data at a fixed distance from
// itself, which the linker resolves relative to IP. Each ends with END.

#include "go_asm.h"
#include "textflag.h"

#define END		UNDEF; UNDEF

// DATA_OF sets R8 to the address of the data page, for the function of that name and offset.
#define DATA_OF(name, at)	LEAQ	name-(const_pageSize+at)(SB), R8

// NOW sets R9 to the clock's nanoseconds, R9 being its offset: as cpu.Nanotime, with LFENCE, so
// that the counter is not read before what the program has done.
// Writes AX, DX.
#define NOW \
	LFENCE \
	RDTSC \
	SHLQ	$32, DX \
	ORQ	DX, AX \
	SUBQ	Data_Base(R8), AX \
	MULQ	Data_Mul(R8) \
	SHRQ	$32, DX, AX \
	LEAQ	1(R9)(AX*1), R9

// SECONDS divides the nanoseconds in R9: seconds to DX, the rest stays in R9.
// 0x44b82fa09b5a53 is 2^75 / (10^9 / 2^9), rounded up: Granlund and Montgomery, "Division by
// Invariant Integers using Multiplication", section 4.
// Writes AX, DX.
#define SECONDS \
	MOVQ	R9, AX \
	SHRQ	$9, AX \
	MOVQ	$0x44b82fa09b5a53, DX \
	MULQ	DX \
	SHRQ	$11, DX \
	IMUL3Q	$1000000000, DX, AX \
	SUBQ	AX, R9

// int clock_gettime(clockid_t clock, struct timespec *ts)
TEXT ·clockGettime(SB),NOSPLIT|NOFRAME,$0
	CMPL	DI, $const_clocks
	JHS	call
	DATA_OF(·clockGettime, const_atClockGettime)
	MOVL	DI, AX
	MOVQ	Data_Offset(R8)(AX*8), R9
	TESTQ	R9, R9
	JLT	call
	NOW
	SECONDS
	MOVQ	DX, 0(SI)
	MOVQ	R9, 8(SI)
	XORL	AX, AX
	RET
call:
	MOVL	$const_sysClockGettime, AX
	SYSCALL
	RET
	END

// int gettimeofday(struct timeval *tv, struct timezone *tz)
TEXT ·gettimeofday(SB),NOSPLIT|NOFRAME,$0
	DATA_OF(·gettimeofday, const_atGettimeofday)
	MOVQ	Data_Offset(R8), R9
	TESTQ	R9, R9
	JLT	call
	TESTQ	DI, DI
	JEQ	zone
	NOW
	SECONDS
	MOVQ	DX, 0(DI)
	MOVL	R9, AX
	XORL	DX, DX
	MOVL	$1000, CX
	DIVL	CX
	MOVQ	AX, 8(DI)
zone:
	TESTQ	SI, SI
	JEQ	done
	MOVQ	$0, 0(SI)
done:
	XORL	AX, AX
	RET
call:
	MOVL	$const_sysGettimeofday, AX
	SYSCALL
	RET
	END

// time_t time(time_t *t)
TEXT ·timeOf(SB),NOSPLIT|NOFRAME,$0
	DATA_OF(·timeOf, const_atTime)
	MOVQ	Data_Offset(R8), R9
	TESTQ	R9, R9
	JLT	call
	NOW
	SECONDS
	MOVQ	DX, AX
	TESTQ	DI, DI
	JEQ	done
	MOVQ	AX, 0(DI)
done:
	RET
call:
	MOVL	$const_sysTime, AX
	SYSCALL
	RET
	END

// int clock_getres(clockid_t clock, struct timespec *res)
TEXT ·clockGetres(SB),NOSPLIT|NOFRAME,$0
	CMPL	DI, $const_clocks
	JHS	call
	DATA_OF(·clockGetres, const_atClockGetres)
	MOVL	DI, AX
	CMPQ	Data_Offset(R8)(AX*8), $0
	JLT	call
	TESTQ	SI, SI
	JEQ	done
	MOVQ	$0, 0(SI)
	MOVQ	$1, 8(SI)
done:
	XORL	AX, AX
	RET
call:
	MOVL	$const_sysClockGetres, AX
	SYSCALL
	RET
	END

// int getcpu(unsigned *cpu, unsigned *node, void *unused)
// The number of the CPU is the limit of a segment: amd64.CPUDesc.
TEXT ·getcpu(SB),NOSPLIT|NOFRAME,$0
	DATA_OF(·getcpu, const_atGetcpu)
	MOVL	Data_CPUSegment(R8), AX
	TESTL	AX, AX
	JEQ	call
	LSLL	AX, AX
	TESTQ	DI, DI
	JEQ	node
	MOVL	AX, 0(DI)
node:
	TESTQ	SI, SI
	JEQ	done
	MOVL	$0, 0(SI)
done:
	XORL	AX, AX
	RET
call:
	MOVL	$const_sysGetcpu, AX
	SYSCALL
	RET
	END

// func addresses() (clockGettime, gettimeofday, time, clockGetres, getcpu unsafe.Pointer)
TEXT ·addresses(SB),NOSPLIT,$0-40
	LEAQ	·clockGettime(SB), AX
	MOVQ	AX, clockGettime+0(FP)
	LEAQ	·gettimeofday(SB), AX
	MOVQ	AX, gettimeofday+8(FP)
	LEAQ	·timeOf(SB), AX
	MOVQ	AX, time+16(FP)
	LEAQ	·clockGetres(SB), AX
	MOVQ	AX, clockGetres+24(FP)
	LEAQ	·getcpu(SB), AX
	MOVQ	AX, getcpu+32(FP)
	RET
