package proc

import (
	"encoding/binary"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/linux/space"
)

// QEMU's emulator reads the stack for a far return and for IRET as the kernel would, even
// in ring 3. With SMAP that is a page fault, whatever the program may do with the page. The
// fault claims to be the kernel's access, which no processor does for a program's. So the
// instruction is executed here: making the page present would not help, and the program
// would fault for ever.
//
// Source: QEMU, target/i386/tcg/seg_helper.c, helper_ret_protected; Intel SDM vol. 2A and 2B,
// "IRET" and "RET".

// The opcodes.
const (
	opRetFarImm = 0xca
	opRetFar    = 0xcb
	opIret      = 0xcf
)

// kernelsFault handles a page fault of the program that claims to be the kernel's access.
func (t *Thread) kernelsFault() {
	r := t.Regs()
	var code [insn.MaxLen]byte
	n, _ := t.Memory().CopyIn(code[:], r.IP)
	in, err := insn.Decode(code[:n])
	if err != nil || in.Map != insn.Map1B || in.Opcode != opRetFar && in.Opcode != opRetFarImm && in.Opcode != opIret {
		t.protection(0)
		return
	}
	steps := r.Flags&amd64.RFLAGS_TF != 0
	if t.farReturn(in, code[:n]) && steps && !t.tellException(amd64.VEC_DB) {
		t.Raise(amd64.VEC_DB)
	}
}

// protection raises a general protection fault with an error code.
func (t *Thread) protection(code uint64) {
	t.Regs().Err = code
	if !t.tellException(amd64.VEC_GP) {
		t.Raise(amd64.VEC_GP)
	}
}

// farReturn executes in, the instruction at the beginning of code. It returns false if it
// raised an exception instead.
func (t *Thread) farReturn(in insn.Inst, code []byte) bool {
	r, size, words := t.Regs(), operandSize(in), 2
	if in.Opcode == opIret {
		words = 5
		if r.Flags&amd64.RFLAGS_NT != 0 {
			t.protection(0)
			return false
		}
	}
	var stack [5 * 8]byte
	if !t.popped(stack[:words*size]) {
		return false
	}
	word := func(i int) uint64 {
		var b [8]byte
		copy(b[:], stack[i*size:(i+1)*size])
		return binary.LittleEndian.Uint64(b[:])
	}
	if cs := word(1) & 0xffff; cs != amd64.SelUserCode {
		t.protection(cs &^ 3)
		return false
	}
	if in.Opcode != opIret {
		r.SP += uint64(words * size)
		if in.Opcode == opRetFarImm {
			r.SP += uint64(binary.LittleEndian.Uint16(code[in.Len-2:]))
		}
		r.IP = word(0)
		return true
	}
	if ss := word(4) & 0xffff; ss != amd64.SelUserData {
		t.protection(ss &^ 3)
		return false
	}
	r.IP, r.SP = word(0), word(3)
	if size == 2 {
		r.Flags = r.Flags&^0xffff | word(2)
	} else {
		r.Flags = word(2) // Run ignores flags that are not the program's
	}
	return true
}

// operandSize returns the size of the words that an instruction pops.
func operandSize(in insn.Inst) int {
	switch {
	case in.REX&insn.REXW != 0:
		return 8
	case in.Prefix.Has(insn.P66):
		return 2
	}
	return 4
}

// popped reads the program's stack. It returns false if the program may not read it; the
// program has its own fault then.
func (t *Thread) popped(b []byte) bool {
	sp := t.Regs().SP
	n, err := t.Memory().CopyIn(b, sp)
	if err != nil {
		t.Regs().Err = amd64.PF_U
		t.Access(sp+uint64(n), space.Read)
	}
	return err == nil
}
