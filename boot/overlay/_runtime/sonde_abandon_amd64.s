#include "textflag.h"

// func sondeRaiseAbandon(why string)
TEXT ·sondeRaiseAbandon(SB),NOSPLIT,$0-16
	MOVQ	why_base+0(FP), AX
	MOVQ	why_len+8(FP), BX
	INT	$0x84
	RET
