#include "textflag.h"

// func sondeFXSave(to unsafe.Pointer)
TEXT ·sondeFXSave(SB),NOSPLIT,$0-8
	MOVQ	to+0(FP), AX
	FXSAVE64 (AX)
	RET
