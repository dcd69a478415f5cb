//go:build tamago

#include "textflag.h"

// func relay(sig uint)
// As the interrupt code of TamaGo's drivers calls it.
TEXT ·relay(SB),NOSPLIT,$8-8
	MOVQ	sig+0(FP), AX
	MOVQ	AX, 0(SP)
	CALL	os∕signal·Relay(SB)
	RET
