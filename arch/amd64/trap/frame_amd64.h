// What the ways into a handler share.

// The frame on the handler's stack, from its bottom (struct frame in Go):
//
//	 0  room for the handler to spill its argument
//	 8  g of the interrupted code
//	16  the CPU's number
//	24  whether X0-X14 are saved
//	32  flags on arrival, of a soft trap
//	48  X0-X15
//	304 Regs (176 bytes)
#define G	8
#define CPUID	16
#define SAVED	24
#define FLAGS	32
#define XMM	48
#define REGS	304
#define FRAME	480

// Stack i of CPU R15: lo, hi, g.
#define LO(i)	(CPU_stacks+24*i)(R15)
#define HI(i)	(CPU_stacks+24*i+8)(R15)
#define GOF(i)	(CPU_stacks+24*i+16)(R15)

// CHOOSE sets R13 to where the frame of a trap that interrupted a stack at R13
// ends, and R14 to the g of that stack; AX is lost. The stacks of a CPU lie
// together, the trap stack uppermost, the NMI stack lowest: a goroutine's is
// outside.
#define CHOOSE \
	CMPQ	R13, HI(0); \
	JHI	fresh; \
	CMPQ	R13, LO(1); \
	JLS	fresh; \
	CMPQ	R13, LO(0); \
	JLS	notTrap; \
	MOVQ	LO(0), AX; \
	ADDQ	$const_reserve, AX; \
	CMPQ	R13, AX; \
	JLS	exhausted; \
	MOVQ	GOF(0), R14; \
	JMP	nested; \
notTrap: \
	MOVQ	GOF(1), R14; \
	CMPQ	R13, HI(1); \
	JLS	nested; \
	MOVQ	GOF(2), R14; \
	CMPQ	R13, HI(2); \
	JHI	fresh; \
	CMPQ	R13, LO(2); \
	JLS	fresh; \
nested: \
	SUBQ	$const_nestGap, R13; \
	ANDQ	$~15, R13; \
	JMP	chosen; \
exhausted: \
	MOVQ	HI(2), R13; \
	MOVQ	GOF(2), R14; \
	JMP	chosen; \
fresh: \
	MOVQ	HI(0), R13; \
	MOVQ	GOF(0), R14; \
chosen:
