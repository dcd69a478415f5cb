// What the ways into a handler share.

// The frame on the handler's stack is a Frame, and a Regs above it.
#define G	Frame_g
#define CPUID	Frame_cpu
#define SAVED	Frame_saved
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
