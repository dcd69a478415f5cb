#include "textflag.h"

// func sondeFXSave(to unsafe.Pointer)
// AX is the mask of XSAVE: all that there is.
TEXT ·sondeFXSave<ABIInternal>(SB),NOSPLIT,$0-8
	MOVQ	AX, CX
	MOVL	$-1, AX
	FXSAVE64 (CX)
	RET
