package bpf

import "fmt"

// Check tells whether an instruction of RFC 9669 begins at insns[pc]. It looks at this instruction
// alone: where jumps lead, and what registers hold, is not checked.
//
// Errors: which instruction, what was found in which field, and what was expected there.
func Check(insns []Insn, pc int) error {
	if pc < 0 || pc >= len(insns) {
		return fmt.Errorf("instruction %d is outside the program, which has %d", pc, len(insns))
	}
	why := insns[pc].fault()
	if why == "" && insns[pc].IsWide() {
		why = wideFault(insns[pc:])
	}
	if why != "" {
		return fmt.Errorf("instruction %d: %s", pc, why)
	}
	return nil
}

// fault returns what is wrong with in, or "".
func (in Insn) fault() string {
	if in.Dst() >= NumRegs || in.Src() >= NumRegs {
		return fmt.Sprintf("registers %#02x: destination and source must be at most 10", in.Regs)
	}
	switch in.Class() {
	case ALU, ALU64:
		return in.aluFault()
	case JMP, JMP32:
		return in.jumpFault()
	}
	return in.memoryFault()
}

func (in Insn) unknown() string { return fmt.Sprintf("opcode %#02x is not an instruction", in.Op) }

// unused returns a fault if one of the fields, which the instruction does not use, is not 0.
func (in Insn) unused(dst, src, off, imm bool) string {
	switch {
	case dst && in.Dst() != 0:
		return fmt.Sprintf("opcode %#02x: the destination register is %d, and must be 0, since it is not used", in.Op, in.Dst())
	case src && in.Src() != 0:
		return fmt.Sprintf("opcode %#02x: the source register is %d, and must be 0, since it is not used", in.Op, in.Src())
	case off && in.Off != 0:
		return fmt.Sprintf("opcode %#02x: the offset is %d, and must be 0, since it is not used", in.Op, in.Off)
	case imm && in.Imm != 0:
		return fmt.Sprintf("opcode %#02x: the immediate is %d, and must be 0, since it is not used", in.Op, in.Imm)
	}
	return ""
}

func (in Insn) aluFault() string {
	switch in.Operation() {
	case 0xE0, 0xF0:
		return in.unknown()
	case End:
		return in.endFault()
	case Neg:
		if in.UsesSrc() {
			return in.unknown()
		}
		return in.unused(false, true, true, true)
	case Div, Mod:
		if in.Off != 0 && in.Off != 1 {
			return fmt.Sprintf("opcode %#02x: the offset is %d: expected 0, or 1 for signed division", in.Op, in.Off)
		}
		return in.unused(false, !in.UsesSrc(), false, in.UsesSrc())
	case Mov:
		if in.UsesSrc() && in.Off != 0 {
			return in.extendFault()
		}
	}
	return in.unused(false, !in.UsesSrc(), true, in.UsesSrc())
}

// extendFault checks a move that sign-extends.
func (in Insn) extendFault() string {
	if in.Off != 8 && in.Off != 16 && (in.Off != 32 || !in.Is64()) {
		want := "0, 8 or 16"
		if in.Is64() {
			want = "0, 8, 16 or 32"
		}
		return fmt.Sprintf("opcode %#02x: the offset is %d: a move can sign-extend %s bits", in.Op, in.Off, want)
	}
	return in.unused(false, false, false, true)
}

func (in Insn) endFault() string {
	if in.Is64() && in.UsesSrc() {
		return in.unknown()
	}
	if in.Imm != 16 && in.Imm != 32 && in.Imm != 64 {
		return fmt.Sprintf("opcode %#02x: the immediate is %d: byte order can be changed of 16, 32 or 64 bits", in.Op, in.Imm)
	}
	return in.unused(false, true, true, false)
}

func (in Insn) jumpFault() string {
	switch op := in.Operation(); {
	case op > Jsle:
		return in.unknown()
	case (op == Call || op == Exit) && (!in.Is64() || in.UsesSrc()), op == Ja && in.UsesSrc():
		return in.unknown()
	case op == Exit:
		return in.unused(true, true, true, true)
	case op == Ja:
		return in.unused(true, true, !in.Is64(), in.Is64())
	case op == Call:
		if in.Src() > CallKfunc {
			return fmt.Sprintf("the source register of a call is %d: expected 0 (helper), 1 (local) or 2 (kernel function)", in.Src())
		}
		return in.unused(true, false, true, false)
	}
	return in.unused(false, !in.UsesSrc(), false, in.UsesSrc())
}

func (in Insn) memoryFault() string {
	switch class, mode := in.Class(), in.Mode(); {
	case in.IsWide():
		if in.Src() > MapIdxVal {
			return fmt.Sprintf("the source register of a 64-bit load is %d: expected 0 to 6, which say what the immediate means", in.Src())
		}
		return in.unused(false, false, true, false)
	case class == LDX && (mode == Mem || mode == MemSX && in.Size() < 8):
		return in.unused(false, false, false, true)
	case class == ST && mode == Mem:
		return in.unused(false, true, false, false)
	case class == STX && mode == Mem:
		return in.unused(false, false, false, true)
	case class == STX && mode == Atomic && in.Size() >= 4:
		return in.atomicFault()
	}
	return in.unknown()
}

func (in Insn) atomicFault() string {
	switch in.Imm {
	case Xchg, Cmpxchg:
		return ""
	}
	switch uint32(in.Imm) &^ uint32(Fetch) {
	case uint32(Add), uint32(Or), uint32(And), uint32(Xor):
		return ""
	}
	return fmt.Sprintf("the immediate %#x is not an atomic operation", uint32(in.Imm))
}

// wideFault checks the second half of the 64-bit load at insns[0].
func wideFault(insns []Insn) string {
	if len(insns) < 2 {
		return "the second half of a 64-bit load is missing"
	}
	second := insns[1]
	if second.Op != 0 || second.Regs != 0 || second.Off != 0 {
		return fmt.Sprintf("the second half of a 64-bit load has opcode %#02x, registers %#02x and offset %d: expected 0 in all",
			second.Op, second.Regs, second.Off)
	}
	switch insns[0].Src() {
	case Number, MapFDValue, MapIdxVal:
		return ""
	}
	return second.unused(false, false, false, true)
}
