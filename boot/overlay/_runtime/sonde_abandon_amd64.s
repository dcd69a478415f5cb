#include "go_asm.h"
#include "textflag.h"

// func sondeAbandon(why string)
TEXT runtime·sondeAbandon<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-16
	MOVQ	g_m(R14), DX
	CMPQ	m_id(DX), $0
	JLT	trap
	RET
trap:
	XORL	CX, CX			// no text
	XORL	DX, DX
	JMP	runtime·sondeRaise(SB)

// func sondeAbandonMutex()
TEXT runtime·sondeAbandonMutex<ABIInternal>(SB),NOSPLIT|NOFRAME,$0
	MOVQ	g_m(R14), DX
	CMPQ	m_id(DX), $0
	JLT	trap
	RET
trap:
	MOVQ	runtime·sondeMutex+0(SB), AX
	MOVQ	runtime·sondeMutex+8(SB), BX
	XORL	CX, CX			// no text
	XORL	DX, DX
	JMP	runtime·sondeRaise(SB)

// func sondeRaiseAbandon(why, text string)
TEXT ·sondeRaiseAbandon(SB),NOSPLIT,$0-32
	MOVQ	why_base+0(FP), AX
	MOVQ	why_len+8(FP), BX
	MOVQ	text_base+16(FP), CX
	MOVQ	text_len+24(FP), DX
	JMP	runtime·sondeRaise(SB)

// sondeRaise has the reason in AX and BX, and what a panic says in CX and DX. It returns if no
// handler was running.
TEXT runtime·sondeRaise(SB),NOSPLIT|NOFRAME,$0
	INT	$0x84
	RET
