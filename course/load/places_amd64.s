//go:build tamago

#include "textflag.h"

// Places for lab 5. Nothing calls these functions. In front of each instruction is its offset, and the
// number of its bytes.

// func placeShort()
TEXT ·placeShort(SB), NOSPLIT|NOFRAME, $0-0
	MOVL  $7, AX            // +0x0  5
	XORL  CX, CX            // +0x5  2
	INCL  CX                // +0x7  2
	RET                     // +0x9  1

// func placeLoop()
TEXT ·placeLoop(SB), NOSPLIT|NOFRAME, $0-0
	MOVL  $10, CX           // +0x0  5
	XORL  AX, AX            // +0x5  2
again:
	ADDL  CX, AX            // +0x7  2
	DECL  CX                // +0x9  2
	TESTL CX, CX            // +0xb  2
	JNE   again             // +0xd  2
	MOVQ  AX, BX            // +0xf  3
	MOVQ  BX, DX            // +0x12 3
	RET                     // +0x15 1

// func placeCall()
TEXT ·placeCall(SB), NOSPLIT|NOFRAME, $0-0
	XORL  AX, AX            // +0x0  2
	CALL  ·placeShort(SB)   // +0x2  5
	MOVL  AX, CX            // +0x7  2
	CALL  CX                // +0x9  2
	MOVL  AX, DX            // +0xb  2
	INCL  DX                // +0xd  2
	DECL  DX                // +0xf  2
	RET                     // +0x11 1

// func placeOwn()
TEXT ·placeOwn(SB), NOSPLIT|NOFRAME, $0-0
	LEAQ  ·placeOwn+9(SB), AX  // +0x0  7
	XORL  CX, CX            // +0x7  2
	INCL  CX                // +0x9  2
	INCL  DX                // +0xb  2
	INCL  BX                // +0xd  2
	INCL  CX                // +0xf  2
	INCL  CX                // +0x11 2
	RET                     // +0x13 1

// func placeShared()
TEXT ·placeShared(SB), NOSPLIT|NOFRAME, $0-0
	XORL  AX, AX            // +0x0  2
	INCL  AX                // +0x2  2
	INCL  CX                // +0x4  2
	INCL  DX                // +0x6  2
	INCL  BX                // +0x8  2
	INCL  CX                // +0xa  2
	RET                     // +0xc  1

// func placeEnters()
TEXT ·placeEnters(SB), NOSPLIT|NOFRAME, $0-0
	MOVL  $1, CX            // +0x0  5
	LEAQ  ·placeShared+4(SB), DX // +0x5 7
	JMP   DX                // +0xc  2
	MOVL  $2, CX            // +0xe  5
	RET                     // +0x13 1

// func placeWaits()
TEXT ·placeWaits(SB), NOSPLIT|NOFRAME, $0-0
	XORL  AX, AX            // +0x0  2
	INCL  AX                // +0x2  2
	STI                     // +0x4  1
	HLT                     // +0x5  1
	MOVL  $3, CX            // +0x6  5
	RET                     // +0xb  1

// places keeps the linker from leaving them out.
DATA ·places+0(SB)/8, $·placeLoop(SB)
DATA ·places+8(SB)/8, $·placeCall(SB)
DATA ·places+16(SB)/8, $·placeOwn(SB)
DATA ·places+24(SB)/8, $·placeEnters(SB)
DATA ·places+32(SB)/8, $·placeWaits(SB)
GLOBL ·places(SB), RODATA|NOPTR, $40
