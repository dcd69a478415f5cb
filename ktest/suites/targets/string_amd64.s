#include "textflag.h"

TEXT ·repMovsb(SB),NOSPLIT|NOFRAME,$0-0
	REP; MOVSB
	MOVQ	·Mem+256(SB), AX
	RET

// Qwords 32 to 35 become 0x77, 36 stays.
TEXT ·repStosq(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	$0x77, AX
	REP; STOSQ
	MOVQ	·Mem+256(SB), AX
	ADDQ	·Mem+288(SB), AX
	RET

// Bytes 0 to 7 against 8 to 15: differs in the first of four.
TEXT ·repeCmpsb(SB),NOSPLIT|NOFRAME,$0-0
	LEAQ	8(SI), DI
	REP; CMPSB
	MOVQ	CX, AX
	RET

// The first byte that is 1 is number 8.
TEXT ·repneScasb(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	SI, DI
	MOVL	$64, CX
	MOVL	$1, AX
	REPN; SCASB
	MOVQ	CX, AX
	RET

// Qwords 3, 2, 1, 0 go to 32, 31, 30, 29.
TEXT ·repDown(SB),NOSPLIT|NOFRAME,$0-0
	LEAQ	24(SI), SI
	STD
	REP; MOVSQ
	CLD
	MOVQ	·Mem+248(SB), AX
	RET

TEXT ·lodsb(SB),NOSPLIT|NOFRAME,$0-0
	LEAQ	8(SI), SI
	XORL	AX, AX
	LODSB
	RET
