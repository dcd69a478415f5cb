//go:build tamago

#include "textflag.h"

// func TripleFault()
TEXT ·TripleFault(SB),NOSPLIT,$16
	MOVQ	$0, 0(SP)
	MOVQ	$0, 8(SP)
	LIDT	(SP)
	BYTE	$0xcc
	HLT
	RET
