// Registers of the processor that Go cannot read or write, and addresses of code.

//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func addresses() (fromTrap, fromSyscall uintptr)
TEXT ·addresses(SB),NOSPLIT,$0-16
	MOVQ	$·fromTrap(SB), AX
	MOVQ	AX, fromTrap+0(FP)
	MOVQ	$·fromSyscall(SB), AX
	MOVQ	AX, fromSyscall+8(FP)
	RET

// func enableSyscall()
TEXT ·enableSyscall(SB),NOSPLIT,$0
	MOVL	$const_msrEFER, CX
	RDMSR
	ORL	$const_sce, AX
	WRMSR
	RET

// func xsetbv(components uint64)
TEXT ·xsetbv(SB),NOSPLIT,$0-8
	MOVQ	components+0(FP), AX
	MOVQ	AX, DX
	SHRQ	$32, DX
	XORL	CX, CX
	XSETBV
	RET

// func setCR4(bits uint64)
TEXT ·setCR4(SB),NOSPLIT,$0-8
	MOVQ	CR4, AX
	MOVQ	AX, CX
	ANDQ	$~const_pge, CX
	MOVQ	CX, CR4			// empties the TLB, of global entries too
	ORQ	bits+0(FP), AX
	MOVQ	AX, CR4
	RET

// func rdtsc() uint64
TEXT ·rdtsc(SB),NOSPLIT,$0-8
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, ret+0(FP)
	RET

// func loadCR3(root uint64)
TEXT ·loadCR3(SB),NOSPLIT,$0-8
	MOVQ	root+0(FP), AX
	MOVQ	AX, CR3
	RET
