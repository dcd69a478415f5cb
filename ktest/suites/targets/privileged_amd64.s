//go:build tamago

#include "textflag.h"

// IF after CLI in bit 0, after STI in bit 1.
TEXT ·cliSti(SB),NOSPLIT|NOFRAME,$0-0
	CLI
	PUSHFQ
	POPQ	AX
	STI
	PUSHFQ
	POPQ	R8
	SHRQ	$9, AX
	SHRQ	$8, R8
	ANDQ	$1, AX
	ANDQ	$2, R8
	ORQ	R8, AX
	RET

TEXT ·cliPopf(SB),NOSPLIT|NOFRAME,$0-0
	PUSHFQ
	CLI
	POPFQ
	PUSHFQ
	POPQ	AX
	SHRQ	$9, AX
	ANDQ	$1, AX
	RET

// Port 0x80 is where firmware leaves progress codes: writing does no harm.
TEXT ·portImm(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xe6; BYTE $0x80	// OUT AL, $0x80
	BYTE	$0xe4; BYTE $0xe9	// IN $0xe9, AL
	RET

TEXT ·portDX(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	$0x80, DX
	OUTB
	MOVL	$0xe9, DX
	INB
	RET

TEXT ·repOutsb(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	$0x80, DX
	REP; OUTSB
	MOVQ	CX, AX
	RET

TEXT ·controlRegs(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	CR0, AX
	MOVQ	CR3, BX
	MOVQ	CR4, CX
	MOVQ	DR7, DX
	RET

TEXT ·readMSR(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	$0xc0000080, CX		// EFER
	RDMSR
	RET

TEXT ·invalidate(SB),NOSPLIT|NOFRAME,$0-0
	INVLPG	0(SI)
	RET

TEXT ·gsLoad(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	0(GS), AX
	TESTQ	AX, AX
	SETNE	AL
	MOVBLZX	AL, AX
	RET

// Calls and a jump through FS and GS: R11 is what leads to Mem[Pointer] from
// the segment's base, which no other CPU has.
// callee changes R11.
#define FROM_BASE(msr) \
	MOVL	$msr, CX; \
	RDMSR; \
	SHLQ	$32, DX; \
	ORQ	DX, AX; \
	LEAQ	320(SI), R11; \
	SUBQ	AX, R11; \
	XORL	AX, AX; \
	XORL	CX, CX; \
	XORL	DX, DX

TEXT ·callFS(SB),NOSPLIT|NOFRAME,$0-0
	FROM_BASE(0xc0000100)
	BYTE	$0x64; BYTE $0x41; BYTE $0xff; BYTE $0x13	// CALL FS:0(R11)
	ADDQ	$1, AX
	RET

TEXT ·callGS(SB),NOSPLIT|NOFRAME,$0-0
	FROM_BASE(0xc0000101)
	BYTE	$0x65; BYTE $0x41; BYTE $0xff; BYTE $0x53; BYTE $0	// CALL GS:0(R11)
	ADDQ	$1, AX
	RET

// callee returns to our caller.
TEXT ·jmpGS(SB),NOSPLIT|NOFRAME,$0-0
	FROM_BASE(0xc0000101)
	SUBQ	BX, R11
	BYTE	$0x65; BYTE $0x41; BYTE $0xff; BYTE $0x24; BYTE $0x1b	// JMP GS:(R11)(BX*1)

TEXT ·int3(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xcc
	RET

TEXT ·int90(SB),NOSPLIT|NOFRAME,$0-0
	INT	$0x90
	RET

TEXT ·spin(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	$200000, AX
again:
	SUBQ	$1, AX
	JNE	again
	RET

// func RaiseInt90()
TEXT ·RaiseInt90(SB),NOSPLIT|NOFRAME,$0-0
	INT	$0x90
	RET

// func RaiseMachineCheck()
TEXT ·RaiseMachineCheck(SB),NOSPLIT|NOFRAME,$0-0
	INT	$18
	RET

// Each of these would do harm in a copy, or at least when stepped, or not work there.
TEXT ·refused(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xcc
	INT	$0x90
	UD2
	HLT
	SYSCALL
	IRETQ
	WRMSR
	SWAPGS
	LGDT	0(SI)
	LIDT	0(SI)
	MOVQ	AX, CR3
	MOVQ	AX, DR7
	MOVW	AX, SS
	MOVW	AX, FS
	BYTE	$0x0f; BYTE $0x01; BYTE $0xc1	// VMCALL
	BYTE	$0x0f; BYTE $0x01; BYTE $0xc9	// MWAIT
	BYTE	$0x67; BYTE $0x8b; BYTE $0x05; LONG $0	// MOVL (EIP), AX
	BYTE	$0x48; BYTE $0x8b; BYTE $0x05; LONG $0x80000000	// MOVQ -2GiB(IP), AX: slots lie above text
	BYTE	$0xcb			// far return
	RET

// 06 is no instruction in 64-bit mode.
TEXT ·data(SB),NOSPLIT|NOFRAME,$0-0
	XORL	AX, AX
	RET
	BYTE	$0x06; BYTE $0x06

// func Clobber()
TEXT ·Clobber(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	$-1, AX
	MOVQ	AX, BX
	MOVQ	AX, CX
	MOVQ	AX, DX
	MOVQ	AX, SI
	MOVQ	AX, DI
	MOVQ	AX, R8
	MOVQ	AX, R9
	MOVQ	AX, R10
	MOVQ	AX, R11
	MOVQ	AX, R12
	MOVQ	AX, R13
	MOVQ	AX, R15
	MOVQ	AX, X0
	MOVUPS	X0, X1
	MOVUPS	X0, X2
	MOVUPS	X0, X3
	MOVUPS	X0, X4
	MOVUPS	X0, X5
	MOVUPS	X0, X6
	MOVUPS	X0, X7
	MOVUPS	X0, X8
	MOVUPS	X0, X9
	MOVUPS	X0, X10
	MOVUPS	X0, X11
	MOVUPS	X0, X12
	MOVUPS	X0, X13
	MOVUPS	X0, X14
	MOVUPS	X0, X15
	ADDQ	$1, AX			// CF PF AF ZF
	RET
