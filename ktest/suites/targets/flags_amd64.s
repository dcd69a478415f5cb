#include "textflag.h"

// TF (bit 8) is among what is looked at: the code must not see that a probe steps.
TEXT ·pushf(SB),NOSPLIT|NOFRAME,$0-0
	PUSHFQ
	POPQ	AX
	ANDQ	$0xfd5, AX
	RET

// CF PF AF ZF SF IF OF and the bit that is always set.
TEXT ·popf(SB),NOSPLIT|NOFRAME,$0-0
	PUSHQ	$0xad7
	POPFQ
	PUSHFQ
	POPQ	AX
	RET

TEXT ·popfOwn(SB),NOSPLIT|NOFRAME,$0-0
	PUSHFQ
	POPFQ
	PUSHFQ
	POPQ	AX
	ANDQ	$0xfd5, AX
	RET

TEXT ·lahfSahf(SB),NOSPLIT|NOFRAME,$0-0
	MOVL	$0xd500, AX
	SAHF
	MOVL	$1, AX
	LAHF
	RET

TEXT ·carry(SB),NOSPLIT|NOFRAME,$0-0
	XORL	AX, AX
	STC
	ADCQ	$0, AX
	CLC
	ADCQ	$0, AX
	CMC
	ADCQ	$1, AX
	RET

TEXT ·carryChain(SB),NOSPLIT|NOFRAME,$0-0
	STC
	SBBQ	AX, AX
	NEGQ	AX
	RET

// Down from qword 32, then the next up: 31.
TEXT ·direction(SB),NOSPLIT|NOFRAME,$0-0
	MOVQ	DI, SI
	STD
	LODSQ
	CLD
	LODSQ
	RET
