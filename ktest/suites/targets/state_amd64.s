#include "go_asm.h"
#include "textflag.h"

// func call(fn uintptr, s *State)
// Only what is on the stack survives the call: s at 8(SP).
TEXT ·call(SB),NOSPLIT,$32-16
	MOVQ	fn+0(FP), AX
	MOVQ	AX, 0(SP)
	MOVQ	s+8(FP), AX
	MOVQ	AX, 8(SP)
	MOVUPS	State_X0(AX), X0
	MOVUPS	State_X1(AX), X1
	MOVUPS	State_X2(AX), X2
	MOVUPS	State_X3(AX), X3
	MOVUPS	State_X4(AX), X4
	MOVUPS	State_X5(AX), X5
	MOVUPS	State_X6(AX), X6
	MOVUPS	State_X7(AX), X7
	MOVUPS	State_X8(AX), X8
	MOVUPS	State_X9(AX), X9
	MOVUPS	State_X10(AX), X10
	MOVUPS	State_X11(AX), X11
	MOVUPS	State_X12(AX), X12
	MOVUPS	State_X13(AX), X13
	MOVUPS	State_X14(AX), X14
	MOVUPS	State_X15(AX), X15
	MOVQ	State_BX(AX), BX
	MOVQ	State_CX(AX), CX
	MOVQ	State_DX(AX), DX
	MOVQ	State_SI(AX), SI
	MOVQ	State_DI(AX), DI
	MOVQ	State_BP(AX), BP
	MOVQ	State_R8(AX), R8
	MOVQ	State_R9(AX), R9
	MOVQ	State_R10(AX), R10
	MOVQ	State_R11(AX), R11
	MOVQ	State_R12(AX), R12
	MOVQ	State_R13(AX), R13
	MOVQ	State_R14(AX), R14
	MOVQ	State_R15(AX), R15
	PUSHQ	State_Flags(AX)
	POPFQ
	MOVQ	State_AX(AX), AX
	CALL	0(SP)
	MOVQ	AX, 16(SP)
	MOVQ	8(SP), AX
	MOVQ	BX, State_BX(AX)
	MOVQ	CX, State_CX(AX)
	MOVQ	DX, State_DX(AX)
	MOVQ	SI, State_SI(AX)
	MOVQ	DI, State_DI(AX)
	MOVQ	BP, State_BP(AX)
	MOVQ	R8, State_R8(AX)
	MOVQ	R9, State_R9(AX)
	MOVQ	R10, State_R10(AX)
	MOVQ	R11, State_R11(AX)
	MOVQ	R12, State_R12(AX)
	MOVQ	R13, State_R13(AX)
	MOVQ	R14, State_R14(AX)
	MOVQ	R15, State_R15(AX)
	PUSHFQ
	POPQ	State_Flags(AX)
	CLD				// in case the shape did not
	MOVQ	16(SP), BX
	MOVQ	BX, State_AX(AX)
	MOVUPS	X0, State_X0(AX)
	MOVUPS	X1, State_X1(AX)
	MOVUPS	X2, State_X2(AX)
	MOVUPS	X3, State_X3(AX)
	MOVUPS	X4, State_X4(AX)
	MOVUPS	X5, State_X5(AX)
	MOVUPS	X6, State_X6(AX)
	MOVUPS	X7, State_X7(AX)
	MOVUPS	X8, State_X8(AX)
	MOVUPS	X9, State_X9(AX)
	MOVUPS	X10, State_X10(AX)
	MOVUPS	X11, State_X11(AX)
	MOVUPS	X12, State_X12(AX)
	MOVUPS	X13, State_X13(AX)
	MOVUPS	X14, State_X14(AX)
	MOVUPS	X15, State_X15(AX)
	RET
