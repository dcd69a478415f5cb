#include "textflag.h"

TEXT ·callee(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	0(SP), R11
	LEAQ	100(BX), AX
	RET

// The jumps go over "MOVL $1, AX; RET", 6 bytes.
TEXT ·jmpShort(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xeb; BYTE $6
	MOVL	$1, AX
	RET
	MOVL	$2, AX
	RET

TEXT ·jmpLong(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xe9; LONG $6
	MOVL	$1, AX
	RET
	MOVL	$2, AX
	RET

TEXT ·jmpBack(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xeb; BYTE $6
	MOVL	$7, AX
	RET
	BYTE	$0xeb; BYTE $-8

TEXT ·jmpReg(SB),NOSPLIT|NOFRAME,$0-0
	JMP	R12

TEXT ·jmpMem(SB),NOSPLIT|NOFRAME,$0-0
	JMP	320(SI)

TEXT ·jmpIndexed(SB),NOSPLIT|NOFRAME,$0-0
	JMP	288(SI)(CX*8)

// callee comes back to callee, and that to our caller.
TEXT ·jmpSP(SB),NOSPLIT|NOFRAME,$0-0
	PUSHQ	R12
	JMP	0(SP)

TEXT ·callRel(SB),NOSPLIT|NOFRAME,$0-0
	CALL	·callee(SB)
	ADDQ	$1, AX
	RET

// The position-independent way to the own address.
TEXT ·callNext(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xe8; LONG $0
	BYTE	$0x58			// POPQ AX
	LEAQ	·callNext(SB), R10
	SUBQ	R10, AX
	RET

TEXT ·callReg(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	R12, AX
	CALL	AX
	ADDQ	$1, AX
	RET

TEXT ·callR12(SB),NOSPLIT|NOFRAME,$0-0
	CALL	R12
	ADDQ	$1, AX
	RET

TEXT ·callMem(SB),NOSPLIT|NOFRAME,$0-0
	CALL	320(SI)
	ADDQ	$1, AX
	RET

DATA ·calleeAddr+0(SB)/8, $·callee(SB)
GLOBL ·calleeAddr(SB), RODATA, $8

TEXT ·callRIP(SB),NOSPLIT|NOFRAME,$0-0
	CALL	*·calleeAddr(SB)
	ADDQ	$1, AX
	RET

TEXT ·callIndexed(SB),NOSPLIT|NOFRAME,$0-0
	CALL	288(SI)(CX*8)
	ADDQ	$1, AX
	RET

// The target is read before the return address is pushed.
TEXT ·callSP(SB),NOSPLIT|NOFRAME,$0-0
	PUSHQ	R12
	CALL	0(SP)
	POPQ	R10
	ADDQ	$1, AX
	RET

TEXT ·ret(SB),NOSPLIT|NOFRAME,$0-0
	RET

// Makes two words below its return address, which RET $16 drops.
TEXT ·retImm(SB),NOSPLIT|NOFRAME,$0-0
	XORL	AX, AX
	BYTE	$0x41; BYTE $0x5a	// POPQ R10
	LEAQ	-16(SP), SP
	BYTE	$0x41; BYTE $0x52	// PUSHQ R10
	BYTE	$0xc2; WORD $16		// RET $16

TEXT ·repRet(SB),NOSPLIT|NOFRAME,$0-0
	BYTE	$0xf3
	RET

TEXT ·loop(SB),NOSPLIT|NOFRAME,$0-0
	XORL	AX, AX
again:
	ADDQ	CX, AX
	LOOP	again
	RET

TEXT ·loopEqual(SB),NOSPLIT|NOFRAME,$0-0
	XORL	AX, AX
again:
	INCQ	AX
	CMPQ	DX, $0
	LOOPEQ	again
	RET

TEXT ·loopNotEqual(SB),NOSPLIT|NOFRAME,$0-0
	XORL	AX, AX
again:
	INCQ	AX
	CMPQ	AX, $2
	LOOPNE	again
	RET

TEXT ·jrcxz(SB),NOSPLIT|NOFRAME,$0-0
	JCXZQ	zero
	MOVL	$1, AX
	RET
zero:
	MOVL	$2, AX
	RET

TEXT ·jecxz(SB),NOSPLIT|NOFRAME,$0-0
	JCXZL	zero
	MOVL	$1, AX
	RET
zero:
	MOVL	$2, AX
	RET
