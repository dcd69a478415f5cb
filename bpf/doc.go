// Package bpf is the instructions of eBPF: how they lie in memory, which of them exist, and how
// they are written.
//
// An instruction takes 8 bytes, but the load of a 64-bit immediate takes 16, which are two Insns
// here. Indices of instructions (pc) and the distances of jumps count units of 8 bytes.
//
//	opcode | source, destination | offset | immediate
//	  1            4 + 4 bits        2          4        bytes, little-endian
//
// The low three bits of the opcode are the class. In arithmetic and jumps, bit 3 tells whether
// the second operand is the immediate (0) or the source register (1), and the high four bits are
// the operation. In loads and stores, bits 3 and 4 are the size and the high three the mode.
//
// [Check] knows which instructions exist, [Text] and [Disassemble] print them, and [Assemble]
// reads what they print. Whether a program is safe to run is not known here.
//
// # Notation
//
// It is the one that LLVM prints; r0 to r10 are whole registers, w0 to w10 their low halves:
//
//	r1 = 5                  w1 s/= w2               r1 = -r1            r1 = (s8)r2
//	r1 = be16 r1            r1 = bswap32 r1         r1 = 0x1234 ll
//	r1 = *(u64 *)(r2 + 8)   r1 = *(s8 *)(r2 - 1)    *(u32 *)(r10 - 4) = r1
//	lock *(u64 *)(r1 + 0) += r2                     r2 = atomic_fetch_add((u64 *)(r1 + 0), r2)
//	r2 = xchg_64(r1 + 0, r2)                        w0 = cmpxchg32_32(r1 + 0, w0, w2)
//	if r1 s> 5 goto +3      if w1 & w2 goto -1      goto +1             gotol +70000
//	call 1                  call pc+3               exit
//
// LLVM has no text for some immediates and calls that a loader resolves. These are written as
// bpftool does, or nearly so:
//
//	r1 = map[fd:5]          r1 = map[fd:5][0]+16    r1 = map[idx:0]     r1 = map[idx:0][0]+16
//	r1 = var[id:7]          r1 = subprog[+3]        call kfunc[id:7]
//
// A jump or a call may name a label, which stands on a line of its own or before an instruction
// ("again: r1 += 1"). What follows # or // is a comment.
//
// # What is refused
//
// The classic BPF that eBPF inherited for packets (LD with the modes ABS and IND), calls of an
// address in a register, and every instruction with a field that it does not use but is not 0.
//
// Source: RFC 9669, "BPF Instruction Set Architecture (ISA)".
package bpf
