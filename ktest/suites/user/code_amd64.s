// Code for ring 3. It is copied into a page of an address space, so it may use no
// addresses but relative ones. Each piece begins at a TEXT and is as long as that.

//go:build tamago

#include "textflag.h"

// calls: a system call again and again; each register is one more then.
TEXT ·calls(SB),NOSPLIT|NOFRAME,$0
again:
	ADDQ	$1, AX
	ADDQ	$1, BX
	ADDQ	$1, DX
	ADDQ	$1, SI
	ADDQ	$1, DI
	ADDQ	$1, BP
	ADDQ	$1, R8
	ADDQ	$1, R9
	ADDQ	$1, R10
	ADDQ	$1, R12
	ADDQ	$1, R13
	ADDQ	$1, R14
	ADDQ	$1, R15
	SYSCALL
	JMP	again

// spin: counts in AX for ever.
TEXT ·spin(SB),NOSPLIT|NOFRAME,$0
again:
	ADDQ	$1, AX
	JMP	again

// keeps: for ever sees that nothing changes: BX+i is in the i-th general register from
// CX on, in the low half of XMM registers, in FS:0 and GS:0, and, unless 8(SP) is not 0,
// in the x87's top. If something is different it executes UD2, with a number in AX.
// 0(SP) counts rounds.
TEXT ·keeps(SB),NOSPLIT|NOFRAME,$0
	LEAQ	1(BX), CX
	LEAQ	2(BX), DX
	LEAQ	3(BX), SI
	LEAQ	4(BX), DI
	LEAQ	5(BX), BP
	LEAQ	6(BX), R8
	LEAQ	7(BX), R9
	LEAQ	8(BX), R10
	LEAQ	9(BX), R11
	LEAQ	10(BX), R12
	LEAQ	11(BX), R13
	LEAQ	12(BX), R14
	MOVQ	BX, X0
	MOVQ	CX, X1
	MOVQ	DX, X7
	MOVQ	SI, X8
	MOVQ	DI, X14
	MOVQ	BP, X15
	CMPQ	8(SP), $0
	JNE	again
	PUSHQ	BX
	BYTE	$0xdf; BYTE $0x2c; BYTE $0x24	// FILDQ (SP)
	POPQ	AX
again:
	INCQ	0(SP)
	MOVL	$1, AX
	LEAQ	-1(CX), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$2, AX
	LEAQ	-2(DX), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$3, AX
	LEAQ	-3(SI), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$4, AX
	LEAQ	-4(DI), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$5, AX
	LEAQ	-5(BP), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$6, AX
	LEAQ	-6(R8), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$7, AX
	LEAQ	-7(R9), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$8, AX
	LEAQ	-8(R10), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$9, AX
	LEAQ	-9(R11), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$10, AX
	LEAQ	-10(R12), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$11, AX
	LEAQ	-11(R13), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$12, AX
	LEAQ	-12(R14), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$20, AX
	MOVQ	X0, R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$21, AX
	MOVQ	X1, R15
	CMPQ	R15, CX
	JNE	wrong
	MOVL	$22, AX
	MOVQ	X7, R15
	CMPQ	R15, DX
	JNE	wrong
	MOVL	$23, AX
	MOVQ	X8, R15
	CMPQ	R15, SI
	JNE	wrong
	MOVL	$24, AX
	MOVQ	X14, R15
	CMPQ	R15, DI
	JNE	wrong
	MOVL	$25, AX
	MOVQ	X15, R15
	CMPQ	R15, BP
	JNE	wrong
	MOVL	$30, AX
	MOVQ	0(FS), R15
	CMPQ	R15, BX
	JNE	wrong
	MOVL	$31, AX
	MOVQ	0(GS), R15
	CMPQ	R15, BX
	JNE	wrong
	CMPQ	8(SP), $0
	JNE	again
	MOVL	$40, AX
	PUSHQ	AX
	BYTE	$0xd9; BYTE $0xc0		// FLD ST(0)
	BYTE	$0xdf; BYTE $0x3c; BYTE $0x24	// FISTPQ (SP), pop
	POPQ	R15
	CMPQ	R15, BX
	JNE	wrong
	JMP	again
wrong:
	UD2

// reads: stores what it reads at (SI) to (DI), for ever, and counts in 8(DI).
TEXT ·reads(SB),NOSPLIT|NOFRAME,$0
again:
	MOVQ	(SI), AX
	MOVQ	AX, (DI)
	ADDQ	$1, 8(DI)
	JMP	again

// shows: pushes CX and R11, which a system call changes, and traps.
TEXT ·shows(SB),NOSPLIT|NOFRAME,$0
	PUSHQ	CX
	PUSHQ	R11
	UD2

// based: writes AX to FS's base and BX to GS's and makes a system call.
TEXT ·based(SB),NOSPLIT|NOFRAME,$0
	WRFSBASEQ AX
	WRGSBASEQ BX
	SYSCALL
	RDFSBASEQ AX
	RDGSBASEQ BX
	UD2

// func tables(gdtr, idtr *[10]byte)
TEXT ·tables(SB),NOSPLIT,$0-16
	MOVQ	gdtr+0(FP), AX
	MOVQ	idtr+8(FP), CX
	SGDT	(AX)
	SIDT	(CX)
	RET

// func mxcsr() uint32
TEXT ·mxcsr(SB),NOSPLIT,$0-4
	STMXCSR	ret+0(FP)
	RET

// func pieces() (calls, spin, keeps, reads, shows, bases uintptr)
TEXT ·pieces(SB),NOSPLIT,$0-48
	MOVQ	$·calls(SB), AX
	MOVQ	AX, calls+0(FP)
	MOVQ	$·spin(SB), AX
	MOVQ	AX, spin+8(FP)
	MOVQ	$·keeps(SB), AX
	MOVQ	AX, keeps+16(FP)
	MOVQ	$·reads(SB), AX
	MOVQ	AX, reads+24(FP)
	MOVQ	$·shows(SB), AX
	MOVQ	AX, shows+32(FP)
	MOVQ	$·based(SB), AX
	MOVQ	AX, bases+40(FP)
	RET
