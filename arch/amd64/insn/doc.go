// Package insn determines where x86-64 instructions begin, how long they are, how they
// change control flow, and whether they can be moved.
//
// Probing relies on it, so it refuses an instruction rather than guess. It does not print
// instructions and does not know most of their names. It allocates nothing, takes no locks,
// never panics and never reads beyond the slice it is given, so all of it may be called in
// trap context. It is plain Go: opcodes are data, and the tests run on any host.
//
// # How an instruction is laid out
//
//	legacy prefixes | REX | escape + opcode | ModRM | SIB | disp | immediate
//	     0..n        0..1      1..3           0..1   0..1   0..8    0..8
//
// An instruction has 1 to 15 bytes. Legacy prefixes (66, 67, F0, F2, F3, segment) come in
// any order; REX counts only right before the opcode, elsewhere the processor ignores it.
// 0F, 0F38 and 0F3A lead to three more opcode maps. VEX (C4, C5) and EVEX (62) replace REX,
// escape and the mandatory prefix with bit fields and are followed by one opcode byte and
// ModRM.
//
// ModRM alone determines SIB and displacement; the opcode, the operand size (66, REX.W) and
// in two groups ModRM.reg (F6, F7) determine the immediate. mod=0 rm=5 is a disp32 relative
// to the end of the instruction. These facts are the same for whole columns of the opcode
// map, so a length decoder needs one letter per opcode and a handful of exceptions.
//
// # What the tables hold
//
//   - oneByte and twoByte: a letter per opcode, the shape of what follows it.
//   - legacy0F, legacy38, legacy3A, vex1..3, evex1..6: in these maps the shape is fixed
//     (ModRM, and imm8 in map 3), so the letter is a hexadecimal digit: the
//     set of mandatory prefixes (none, 66, F3, F2 = 1, 2, 4, 8) for which the
//     opcode is defined.
//   - groups: for opcodes extended by ModRM.reg, the values in use.
//
// Control flow and the hazards of moving code (Trait) are short switches
// over the opcode in flow.go and trait.go; move.go turns them into answers.
//
// Some things are not checked, because neither length nor flow depends on them: whether an
// operand must be memory or a register (except where an opcode means something else then),
// x87 sub-opcodes, reserved VEX.vvvv, W and L values, whether this CPU has the extension.
// Such an instruction raises #UD in its place and, if moved, in its copy.
//
// # What is refused
//
// ErrInvalid: not an instruction in 64-bit mode (06 07 0E 16 17 1E 1F 27 2F 37
// 3F 60 61 82 9A CE D4 D6 EA, undefined opcodes and group members; REX, 66,
// F0, F2 or F3 before VEX or EVEX, which raise #UD).
//
// ErrRefused: an instruction on some CPU, but processors or manuals disagree,
// or it is newer than these tables:
//
//   - E8, E9, 0F 80..8F with 66 and without REX.W: Intel ignores the 66 and
//     reads a disp32, AMD reads a disp16 and truncates RIP.
//   - D5 (REX2), EVEX map 4, EVEX with bit 3 of the first or without bit 2 of
//     the second payload byte: Intel APX (or AVX10 rounding in ymm).
//   - VEX maps other than 1..3, EVEX map 0, 7: unknown immediates.
//   - 8F with a map field of 8 and above: AMD XOP.
//
// Also ErrInvalid, though some CPU knows them: VIA PadLock (0F A6, A7), TDX
// module calls (66 0F 01 CC..CF).
//
// Decoded but not [Inst.Movable]: see [Reason].
//
// # Sources
//
// Intel SDM vol. 2, "Instruction Format" (prefixes, REX, ModRM and SIB, VEX,
// EVEX), "Opcode Map", and the instruction reference; vol. 3, "Masking
// Exceptions and Interrupts When Switching Stacks" (the shadow after MOV SS),
// "Single-Step Exception Condition". Intel APX Architecture Specification,
// "REX2 Prefix", "Extended EVEX Prefix". AMD APM vol. 3, "Instruction
// Encoding", "Near Branches in 64-Bit Mode", "3DNow! Opcodes", "XOP".
//
// # How it is tested
//
// Each opcode of each map, after each mandatory prefix, with each ModRM.reg, is also
// disassembled by objdump. What objdump calls (bad) must be refused here, and the reverse;
// the few exceptions are listed with their reasons (opcodes_test.go). Length, flow, traits,
// branch target, immediate and memory operand must be the same; as says where LOCK is
// allowed. Then each entry of each table is changed in each way, one at a time, and the
// comparison must notice (mutate_test.go): none of 19276 such mutants survives.
//
// # What was rejected
//
// x/arch/x86/x86asm as the decoder: it allocates and is silently wrong about VZEROUPPER,
// RIP-relative VEX operands and unknown instructions after a prefix. It prints
// instructions, and checks this package in tests. A generated table of all instructions:
// ten times the size, for facts that neither length nor flow depends on. Reading displacement and
// immediate from the code again when they are asked for: of a slice that was too short they were 0,
// which looked valid.
package insn
