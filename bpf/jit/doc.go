// Package jit compiles eBPF programs to machine code of amd64.
//
// It trusts what it is given: a program that was not verified can do anything when it runs.
// Compiling itself is safe for any instructions.
//
// # Registers
//
//	R0  R1  R2  R3  R4  R5  R6  R7   R8   R9   R10
//	AX  R8  BX  CX  DI  SI  R9  R10  R12  R13  R15
//
// AX is where a Go function returns its result; R2 to R5 are where it takes its second to fifth
// argument, so that a call of a helper moves one register. DX and R11 hold intermediate values.
// R14 and X15 are never touched, which in Go are the goroutine and zero, nor is any other SSE
// register. BP is the frame, by which stack walks find the caller.
//
// # Entry
//
// The code is called as a Go function of two words: AX is the link, BX the context, which is R1 of
// the program. R0 at its exit is the result, in AX. There is no check of the stack: the caller has
// room for Image.Stack bytes. Code of the caller's can come first, and last (View.Enter, View.Leave).
//
// # Frames
//
//	BP+8    return address
//	BP+0    BP of the caller
//	BP-8    the context }  only if some helper wants them:
//	BP-16   the link    }  a function of the program copies them from its caller's frame
//	BP-24   what is left for tail calls, if the program has some
//	        the stack of the function, of which R15 is the end
//	        R6 to R9 of the caller, if this function changes them
//	        R6 to R9 of this function while a helper runs, if it uses them
//	SP+0    8 words that a Go function may use for its arguments, if helpers are called
//
// # Helpers
//
// A helper is a Go function, called by Go's internal ABI: its arguments are R1 to R5, the context,
// the CPU's word and the link, as far as it says that it wants these three. It can also be machine
// code that is put in the place of the call.
//
// # Tail calls
//
// A program can continue as another one (Helper.Tail): it gives up its frame, and jumps to the other one's
// entry, past the code that the caller puts first (Image.Tail). There AX and BX are as at any entry, and DX has
// what is left: in its low half of View.Credit, in its high half of bpf.MaxTailCalls. A program with tail calls keeps
// that at BP-24, and others do not look at it. The four bytes before an entry that is jumped to say how much
// of the credit it takes; if less is left, the program continues after the call.
//
// A helper that is given a function of the program (the number that the load of its address
// yields) calls it as a Go function at this address: five words, the context, the link; one result.
package jit
