// What the ways into a handler share.

// The frame on the handler's stack, from its bottom (struct Frame in Go):
//
//	 0  room for the handler to spill its arguments
//	16  g of the interrupted code
//	24  the CPU's number
//	32  flags on arrival, of a soft trap (4 bytes)
//	36  whether X0-X14 are saved (4 bytes)
//	48  X0-X15
//	304 Regs (176 bytes)
#define G	16
#define CPUID	24
#define SAVED	36
#define XMM	48
#define REGS	304
#define FRAME	480

// Stack i of CPU R15: lo, hi, g.
#define LO(i)	(CPU_stacks+24*i)(R15)
#define HI(i)	(CPU_stacks+24*i+8)(R15)
#define GOF(i)	(CPU_stacks+24*i+16)(R15)
