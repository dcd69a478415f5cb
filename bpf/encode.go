package bpf

import (
	"encoding/binary"
	"fmt"
)

// InsnBytes is how many bytes an Insn takes in memory.
const InsnBytes = 8

// Decode reads instructions as they lie in memory. It does not judge them: Check does.
//
// Errors: the length is not a multiple of 8.
func Decode(code []byte) ([]Insn, error) {
	if len(code)%InsnBytes != 0 {
		return nil, fmt.Errorf("%d bytes are not whole instructions: expected a multiple of %d", len(code), InsnBytes)
	}
	insns := make([]Insn, 0, len(code)/InsnBytes)
	for ; len(code) > 0; code = code[InsnBytes:] {
		insns = append(insns, Insn{
			Op:   code[0],
			Regs: code[1],
			Off:  int16(binary.LittleEndian.Uint16(code[2:])),
			Imm:  int32(binary.LittleEndian.Uint32(code[4:])),
		})
	}
	return insns, nil
}

// Encode returns the bytes of insns as they lie in memory.
func Encode(insns []Insn) []byte {
	code := make([]byte, 0, len(insns)*InsnBytes)
	for _, in := range insns {
		code = append(code, in.Op, in.Regs)
		code = binary.LittleEndian.AppendUint16(code, uint16(in.Off))
		code = binary.LittleEndian.AppendUint32(code, uint32(in.Imm))
	}
	return code
}
