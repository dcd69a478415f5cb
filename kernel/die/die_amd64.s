//go:build tamago

#include "go_asm.h"
#include "textflag.h"

// func raiseExit()
TEXT ·raiseExit(SB),NOSPLIT,$0
	INT	$const_vecExit
	RET
