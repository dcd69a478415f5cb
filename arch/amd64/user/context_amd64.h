#define R3	cpu_Ring3
#define REGS	Context_Regs

// SAVEREGS saves the program's registers, but R15, SP, IP and the flags, in the Context at p.
#define SAVEREGS(p) \
	MOVQ	R13, (REGS+regs_R13)(p); \
	SAVEOTHERS(p)

// SAVEOTHERS is SAVEREGS without R13.
#define SAVEOTHERS(p) \
	MOVQ	R14, (REGS+regs_R14)(p); \
	MOVQ	R12, (REGS+regs_R12)(p); \
	MOVQ	BP, (REGS+regs_BP)(p); \
	MOVQ	BX, (REGS+regs_BX)(p); \
	MOVQ	R11, (REGS+regs_R11)(p); \
	MOVQ	R10, (REGS+regs_R10)(p); \
	MOVQ	R9, (REGS+regs_R9)(p); \
	MOVQ	R8, (REGS+regs_R8)(p); \
	MOVQ	AX, (REGS+regs_AX)(p); \
	MOVQ	CX, (REGS+regs_CX)(p); \
	MOVQ	DX, (REGS+regs_DX)(p); \
	MOVQ	SI, (REGS+regs_SI)(p); \
	MOVQ	DI, (REGS+regs_DI)(p)

// LOADXMM loads X0-X14, which XMM says where they are in the Context at R15.
#define LOADXMM \
	MOVUPS	XMM(0)(R15), X0; \
	MOVUPS	XMM(1)(R15), X1; \
	MOVUPS	XMM(2)(R15), X2; \
	MOVUPS	XMM(3)(R15), X3; \
	MOVUPS	XMM(4)(R15), X4; \
	MOVUPS	XMM(5)(R15), X5; \
	MOVUPS	XMM(6)(R15), X6; \
	MOVUPS	XMM(7)(R15), X7; \
	MOVUPS	XMM(8)(R15), X8; \
	MOVUPS	XMM(9)(R15), X9; \
	MOVUPS	XMM(10)(R15), X10; \
	MOVUPS	XMM(11)(R15), X11; \
	MOVUPS	XMM(12)(R15), X12; \
	MOVUPS	XMM(13)(R15), X13; \
	MOVUPS	XMM(14)(R15), X14
