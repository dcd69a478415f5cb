// Package optprobe replaces a probe's breakpoint by a jump where that is safe.
// A jump is several times cheaper than a trap, but it is five bytes long.
//
// # The region
//
// A breakpoint is one byte, so it never covers more than one instruction. A
// jump covers the instructions that own any of its five bytes:
//
//	     off                 off+5
//	      |                    |
//	... | ins1 | ins2 |    ins3   | ins4 ...
//	    [<----  jump  --->]
//	    [<----     region    ---->]
//
// They are the region. Their copies, written for another address, run in the
// detour that the jump leads to, and behind them a jump leads back to ins4.
// The bytes off+1 to off+4 are no longer instructions: code that comes there by
// another way than from off would execute a piece of an address.
//
// # The safety check (kprobes.txt §1.4.2)
//
// [Scan.Read] decodes a whole function once and notes for each byte what leads
// there; [Scan.Check] then answers for any offset at the cost of looking at
// five bytes. Nothing may lead into the region behind its first byte:
//
//   - no direct branch of the function;
//   - no entry of its jump tables, which are read; an indirect jump whose
//     table is not found makes the check refuse the whole function;
//   - no code that enters the function from outside (package
//     kallsyms/entries: branches of other functions, and the points where
//     recover goes on);
//   - no return: a call returns to the instruction behind it, so a call is either in
//     front of the region or its last instruction;
//   - no code that gets an address in the region from the function itself (LEA).
//
// And the region must end where the function does, or before; all of the
// function must decode, or there might be a branch in what does not; and each
// instruction must be [insn.Inst.Movable].
//
// Linux refuses, beside these, every region with a relative branch, a
// RIP-relative operand out of reach or a call, and every function with an
// indirect jump. On Go code that leaves one function entry in three.
//
// # The copy
//
// [Relocate] rewrites what depends on where it stands: short branches become
// near ones, RIP-relative displacements are corrected, and a final call becomes
// PUSH of the original return address and a jump. So no stack ever holds an
// address in a detour: Go's runtime, which walks and copies stacks, would not
// know it, and detours could never be freed.
//
// [Copy.Original] and [Copy.At] translate addresses between the two, for a
// trap in the copy and for a CPU that was stopped inside the region.
//
// # What was rejected
//
//   - Calls in the middle of a region: the callee returns to the original
//     address behind the call, which is inside the jump.
//   - Padding behind the function as room for the jump: nothing promises that
//     it stays unused, and it gains 1 % of the places.
//   - A length of jump tables taken from the comparison in front of them: it
//     is often too far away to recognize. See jumptable.go.
//   - A control-flow graph, with only reachable code counted: more code, and a
//     wrong edge would allow what must be refused. Here every doubt is a reason to refuse.
//   - Maps and sorted lists of targets: one cell per byte of code is faster to
//     fill and to ask, and the caller can use the memory again.
//
// # Sources
//
// kprobes.txt §1.4 and §5; Intel SDM vol. 2, "Instruction Format"; Go's
// cmd/compile/internal/ssagen and cmd/internal/obj/x86 (jump tables),
// cmd/link/internal/ld/pcln.go (deferreturn).
package optprobe
