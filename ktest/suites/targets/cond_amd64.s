#include "textflag.h"

// Every condition in every form. Opcodes are given in bytes: the assembler
// chooses the length of a jump itself, and each is wanted in both.

// JCC8 is jcc rel8 over "MOVL $1, AX; RET".
#define JCC8(name, cc) \
TEXT name(SB),NOSPLIT|NOFRAME,$0-0; \
	BYTE	$(0x70+cc); BYTE $6; \
	MOVL	$1, AX; \
	RET; \
	MOVL	$2, AX; \
	RET

// JCC32 is jcc rel32 over the same.
#define JCC32(name, cc) \
TEXT name(SB),NOSPLIT|NOFRAME,$0-0; \
	BYTE	$0x0f; BYTE $(0x80+cc); LONG $6; \
	MOVL	$1, AX; \
	RET; \
	MOVL	$2, AX; \
	RET

// COND is setcc AL and cmovcc BX, R8.
#define COND(name, cc) \
TEXT name(SB),NOSPLIT|NOFRAME,$0-0; \
	MOVL	$0, AX; \
	MOVL	$0, R8; \
	BYTE	$0x0f; BYTE $(0x90+cc); BYTE $0xc0; \
	BYTE	$0x4c; BYTE $0x0f; BYTE $(0x40+cc); BYTE $0xc3; \
	LEAQ	(AX)(R8*1), AX; \
	RET

JCC8(·jcc8Overflow, 0)
JCC8(·jcc8NoOverflow, 1)
JCC8(·jcc8Below, 2)
JCC8(·jcc8NotBelow, 3)
JCC8(·jcc8Equal, 4)
JCC8(·jcc8NotEqual, 5)
JCC8(·jcc8BelowEqual, 6)
JCC8(·jcc8Above, 7)
JCC8(·jcc8Sign, 8)
JCC8(·jcc8NoSign, 9)
JCC8(·jcc8Parity, 10)
JCC8(·jcc8NoParity, 11)
JCC8(·jcc8Less, 12)
JCC8(·jcc8NotLess, 13)
JCC8(·jcc8LessEqual, 14)
JCC8(·jcc8Greater, 15)

JCC32(·jcc32Overflow, 0)
JCC32(·jcc32NoOverflow, 1)
JCC32(·jcc32Below, 2)
JCC32(·jcc32NotBelow, 3)
JCC32(·jcc32Equal, 4)
JCC32(·jcc32NotEqual, 5)
JCC32(·jcc32BelowEqual, 6)
JCC32(·jcc32Above, 7)
JCC32(·jcc32Sign, 8)
JCC32(·jcc32NoSign, 9)
JCC32(·jcc32Parity, 10)
JCC32(·jcc32NoParity, 11)
JCC32(·jcc32Less, 12)
JCC32(·jcc32NotLess, 13)
JCC32(·jcc32LessEqual, 14)
JCC32(·jcc32Greater, 15)

COND(·condOverflow, 0)
COND(·condNoOverflow, 1)
COND(·condBelow, 2)
COND(·condNotBelow, 3)
COND(·condEqual, 4)
COND(·condNotEqual, 5)
COND(·condBelowEqual, 6)
COND(·condAbove, 7)
COND(·condSign, 8)
COND(·condNoSign, 9)
COND(·condParity, 10)
COND(·condNoParity, 11)
COND(·condLess, 12)
COND(·condNotLess, 13)
COND(·condLessEqual, 14)
COND(·condGreater, 15)
