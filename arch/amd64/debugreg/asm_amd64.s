//go:build tamago

#include "textflag.h"

#define READ(reg) \
	MOVQ	reg, AX; \
	MOVQ	AX, ret+0(FP); \
	RET

#define WRITE(reg) \
	MOVQ	v+0(FP), AX; \
	MOVQ	AX, reg; \
	RET

// Instructions that the assembler does not have: MOVQ AX, DRn.
#define MOVQ_AX_DR(n)	BYTE $0x0f; BYTE $0x23; BYTE $(0xc0+8*n)
#define WRITE_ADDRESS(n) \
	MOVQ	v+0(FP), AX; \
	MOVQ_AX_DR(n); \
	RET

// func ReadDR6() uint64
TEXT ·ReadDR6(SB),NOSPLIT,$0-8
	READ(DR6)

// func WriteDR6(v uint64)
TEXT ·WriteDR6(SB),NOSPLIT,$0-8
	WRITE(DR6)

// func ReadDR7() uint64
TEXT ·ReadDR7(SB),NOSPLIT,$0-8
	READ(DR7)

// func WriteDR7(v uint64)
TEXT ·WriteDR7(SB),NOSPLIT,$0-8
	WRITE(DR7)

// func writeDR0(v uint64)
TEXT ·writeDR0(SB),NOSPLIT,$0-8
	WRITE_ADDRESS(0)

// func writeDR1(v uint64)
TEXT ·writeDR1(SB),NOSPLIT,$0-8
	WRITE_ADDRESS(1)

// func writeDR2(v uint64)
TEXT ·writeDR2(SB),NOSPLIT,$0-8
	WRITE_ADDRESS(2)

// func writeDR3(v uint64)
TEXT ·writeDR3(SB),NOSPLIT,$0-8
	WRITE_ADDRESS(3)
