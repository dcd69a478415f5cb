#include "textflag.h"

// func sondeRaiseAbandon(why, text string)
TEXT ·sondeRaiseAbandon(SB),NOSPLIT,$0-32
	MOVQ	why_base+0(FP), AX
	MOVQ	why_len+8(FP), BX
	MOVQ	text_base+16(FP), CX
	MOVQ	text_len+24(FP), DX
	INT	$0x84
	RET
