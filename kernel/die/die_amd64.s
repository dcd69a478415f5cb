//go:build tamago

#include "textflag.h"

// func raiseExit()
TEXT ·raiseExit(SB),NOSPLIT,$0
	INT	$0x81
	RET
