// Package optprobe replaces a probe's breakpoint with a jump where that is safe. A jump is
// several times cheaper than a trap, but it is five bytes long.
//
// # The region
//
// A breakpoint is one byte, so it never covers more than one instruction. A jump covers all
// instructions that have any of its five bytes:
//
//	     off                 off+5
//	      |                    |
//	... | ins1 | ins2 |    ins3   | ins4 ...
//	    [<----  jump  --->]
//	    [<----     region    ---->]
//
// These instructions are the region. Their copies, rewritten for another address, run in
// the detour that the jump leads to, followed by a jump back to ins4. The bytes off+1 to
// off+4 are no longer instructions: code that arrives there other than from off would
// execute part of an address.
//
// # The safety check (kprobes.txt §1.4.2)
//
// [Scan.Read] decodes a whole function once and notes for each byte what leads there;
// [Scan.Check] then answers for any offset by looking at five bytes. Nothing may lead into
// the region after its first byte:
//
//   - no direct branch of the function;
//   - no entry of its jump tables, which are read; an indirect jump whose
//     table is not found makes the check refuse the whole function;
//   - no code that enters the function from outside (package
//     kallsyms/entries: branches of other functions, and the points where
//     recover continues);
//   - no return: a call returns to the instruction after it, so a call is either before
//     the region or its last instruction;
//   - no code that gets an address in the region from the function itself (LEA).
//
// In addition, the region must not go beyond the function's end; the whole function must
// decode, because what does not might contain a branch; and each instruction must be
// [insn.Inst.Movable].
//
// Linux also refuses every region with a relative branch, a RIP-relative operand out of
// reach or a call, and every function with an indirect jump. For Go code that would leave
// one function entry in three.
//
// # The copy
//
// [Relocate] rewrites what depends on the address: short branches become near ones,
// RIP-relative displacements are corrected, and a final call becomes a PUSH of the original
// return address and a jump. So no stack ever contains an address in a detour: Go's
// runtime, which walks and copies stacks, would not know it, and detours could never be
// freed.
//
// [Copy.Original] and [Copy.At] translate addresses between the two, for a trap in the copy
// and for a CPU that was stopped inside the region.
//
// # What was rejected
//
//   - Calls in the middle of a region: the callee returns to the original address after the call,
//     which is inside the jump.
//   - Using the padding after the function: nothing guarantees that it stays unused, and it gains 1 %
//     of the places.
//   - Taking a jump table's length from the comparison before it: it is often too far away to
//     recognize. See jumptable.go.
//   - A control-flow graph that counts only reachable code: more code, and a wrong edge would allow
//     what must be refused. Here every doubt is a reason to refuse.
//   - Maps and sorted lists of targets: one cell per byte of code is faster to fill and to query, and
//     the memory can be reused.
//
// # Sources
//
// kprobes.txt §1.4 and §5; Intel SDM vol. 2, "Instruction Format"; Go's
// cmd/compile/internal/ssagen and cmd/internal/obj/x86 (jump tables),
// cmd/link/internal/ld/pcln.go (deferreturn).
package optprobe
