// What the ways into a handler share.

// The frame on the handler's stack is a Frame, and a Regs above it.
#define G	Frame_g
#define CPUID	Frame_cpu
#define SAVED	Frame_saved
#define PROBES	Frame_probes
#define XMM	Frame_xmm
#define REGS	Frame__size
#define FRAME	(Frame__size+regs__size)

// Above the Regs of NMI, #DF and #MC is what else they have changed: see takeOurs.
#define GSBASE	0
#define FSBASE	8
#define MXCSR	16
#define OTHERS	32

// Stack i of CPU R15.
#define LO(i)	(CPU_stacks+stack__size*i+stack_lo)(R15)
#define HI(i)	(CPU_stacks+stack__size*i+stack_hi)(R15)
#define GOF(i)	(CPU_stacks+stack__size*i+stack_g)(R15)

// LEAVE restores all but what IRETQ does: SP is at the frame, then at IP. label is
// any. It is GIVEG, the rest of the XMM registers if they were saved, and POPREGS.
#define LEAVE(label) \
	GIVEG; \
	CMPL	SAVED(SP), $0; \
	JEQ	label; \
	CALL	·loadXMM(SB); \
label: \
	POPREGS

#define GIVEG \
	MOVQ	G(SP), AX; \
	MOVQ	AX, (TLS); \
	MOVUPS	(XMM+240)(SP), X15

#define POPREGS \
	ADDQ	$REGS, SP; \
	POPQ	R15; \
	POPQ	R14; \
	POPQ	R13; \
	POPQ	R12; \
	POPQ	BP; \
	POPQ	BX; \
	POPQ	R11; \
	POPQ	R10; \
	POPQ	R9; \
	POPQ	R8; \
	POPQ	AX; \
	POPQ	CX; \
	POPQ	DX; \
	POPQ	SI; \
	POPQ	DI; \
	ADDQ	$16, SP			// vector, error
