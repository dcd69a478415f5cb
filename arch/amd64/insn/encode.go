package insn

import "encoding/binary"

// The opcodes that patching and generated code use. The decoder knows all others as entries of its
// tables.
//
// Source: Intel SDM vol. 2, "INT n/INTO/INT3/INT1", "JMP", "Jcc", "PUSH".
const (
	OpInt3  = 0xCC // one byte
	OpJmp   = 0xE9 // rel32
	OpJmp8  = 0xEB // rel8
	OpJcc   = 0x80 // after 0F, with the condition in its low four bits: rel32
	OpPush  = 0x68 // imm32, sign-extended
	OpPush8 = 0x6A // imm8, sign-extended
)

// JumpSize is the length of a jump with a 32-bit displacement, in bytes.
const JumpSize = 5

// Jump returns a jump at from to the address to; false if that is out of reach.
//
// Context: any.
// Source:  Intel SDM vol. 2, "JMP".
func Jump(from, to uint64) (b [JumpSize]byte, ok bool) {
	rel, ok := Distance(from+JumpSize, to)
	b[0] = OpJmp
	binary.LittleEndian.PutUint32(b[1:], uint32(rel))
	return b, ok
}

// Distance returns the 32-bit displacement from next, the end of an instruction, to the address to;
// false if they are more than 2 GiB apart.
//
// Context: any.
func Distance(next, to uint64) (rel int32, ok bool) {
	d := int64(to - next)
	return int32(d), int64(int32(d)) == d
}

// CopyTo writes code, which is the instruction at from, to dst, for address to. It corrects a
// RIP-relative displacement, so that the operand stays the same. If the instruction is not Next,
// such as a branch or call, the caller must do what else it needs elsewhere: see Movable.
//
// It returns false if the operand is out of reach of to; dst is not changed then.
//
// Context: any.
// Units:   code is the whole instruction; len(dst) ≥ len(code).
// Source:  Intel SDM vol. 2, "RIP-Relative Addressing".
func (i *Inst) CopyTo(dst, code []byte, from, to uint64) bool {
	if !i.RIPRel {
		copy(dst[:len(code)], code)
		return true
	}
	rel, ok := Distance(to, from+uint64(i.Disp()))
	if !ok {
		return false
	}
	copy(dst[:len(code)], code)
	binary.LittleEndian.PutUint32(dst[i.DispOff:], uint32(rel))
	return true
}
