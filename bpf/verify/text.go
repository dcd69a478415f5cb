package verify

import (
	"fmt"

	"sonde/bpf"
)

var (
	aluSigns  = [16]string{"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "", "%=", "^=", "=", "s>>="}
	jumpSigns = [16]string{"", "==", ">", ">=", "&", "!=", "s>", "s>=", "", "", "<", "<=", "s<", "s<="}
)

// text is the instruction as Linux's log has it, which differs a little from bpf.Text.
func text(w *walk, pc int) string {
	in := w.flow.insns[pc]
	switch in.Class() {
	case bpf.ALU, bpf.ALU64:
		return aluText(w.flow.insns, pc)
	case bpf.JMP, bpf.JMP32:
		return jumpText(w, in)
	case bpf.LDX:
		return fmt.Sprintf("r%d = *(%s *)(r%d %+d)", in.Dst(), typeText(in), in.Src(), in.Off)
	case bpf.ST:
		return fmt.Sprintf("*(%s *)(r%d %+d) = %d", typeText(in), in.Dst(), in.Off, in.Imm)
	case bpf.STX:
		if in.Mode() == bpf.Mem {
			return fmt.Sprintf("*(%s *)(r%d %+d) = r%d", typeText(in), in.Dst(), in.Off, in.Src())
		}
	case bpf.LD:
		if in.Src() == bpf.Number {
			return fmt.Sprintf("r%d = %#x", in.Dst(), bpf.Wide(in, w.flow.insns[pc+1]))
		}
	}
	return plainText(w.flow.insns, pc)
}

func plainText(insns []bpf.Insn, pc int) string {
	s, err := bpf.Text(insns, pc)
	if err != nil {
		return err.Error()
	}
	return s
}

func typeText(in bpf.Insn) string {
	if in.Mode() == bpf.MemSX {
		return fmt.Sprintf("s%d", 8*in.Size())
	}
	return fmt.Sprintf("u%d", 8*in.Size())
}

func regText(in bpf.Insn, r uint8) string {
	if in.Is64() {
		return fmt.Sprintf("r%d", r)
	}
	return fmt.Sprintf("w%d", r)
}

func aluText(insns []bpf.Insn, pc int) string {
	in := insns[pc]
	sign := aluSigns[in.Operation()>>4]
	if sign == "" || in.Operation() == bpf.End || in.Off != 0 {
		return plainText(insns, pc)
	}
	if in.UsesSrc() {
		return fmt.Sprintf("%s %s %s", regText(in, in.Dst()), sign, regText(in, in.Src()))
	}
	return fmt.Sprintf("%s %s %d", regText(in, in.Dst()), sign, in.Imm)
}

func jumpText(w *walk, in bpf.Insn) string {
	switch in.Operation() {
	case bpf.Exit:
		return "exit"
	case bpf.Ja:
		return fmt.Sprintf("goto pc%+d", in.Distance())
	case bpf.Call:
		return callText(w, in)
	}
	second := fmt.Sprintf("%#x", uint32(in.Imm))
	if in.UsesSrc() {
		second = regText(in, in.Src())
	}
	return fmt.Sprintf("if %s %s %s goto pc%+d", regText(in, in.Dst()), jumpSigns[in.Operation()>>4], second, in.Off)
}

func callText(w *walk, in bpf.Insn) string {
	switch {
	case in.Src() == bpf.CallLocal:
		return fmt.Sprintf("call pc%+d", in.Imm)
	case w.env.Helpers[in.Imm] != nil:
		return fmt.Sprintf("call %s#%d", w.env.Helpers[in.Imm].Name, in.Imm)
	}
	return fmt.Sprintf("call unknown#%d", in.Imm)
}
