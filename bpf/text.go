package bpf

import (
	"fmt"
	"strconv"
	"strings"
)

// aluSigns and jumpSigns are how operations are written, by the high four bits of the opcode.
var aluSigns = [16]string{"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "", "%=", "^=", "=", "s>>="}

var jumpSigns = [16]string{"", "==", ">", ">=", "&", "!=", "s>", "s>=", "", "", "<", "<=", "s<", "s<="}

// fetchNames is what atomics that fetch are called, by operation.
var fetchNames = map[uint8]string{Add: "add", Or: "or", And: "and", Xor: "xor"}

// Disassemble returns the text of a program, a line per instruction. Assemble reads it.
//
// Errors: those of Check.
func Disassemble(insns []Insn) (string, error) {
	var b strings.Builder
	for pc := 0; pc < len(insns); pc++ {
		line, err := Text(insns, pc)
		if err != nil {
			return "", err
		}
		b.WriteString(line + "\n")
		if insns[pc].IsWide() {
			pc++
		}
	}
	return b.String(), nil
}

// Text returns the text of the instruction at insns[pc].
//
// Errors: those of Check.
func Text(insns []Insn, pc int) (string, error) {
	if err := Check(insns, pc); err != nil {
		return "", err
	}
	in := insns[pc]
	switch in.Class() {
	case ALU, ALU64:
		return in.aluText(), nil
	case JMP, JMP32:
		return in.jumpText(), nil
	case LDX:
		return fmt.Sprintf("r%d = *(%s *)%s", in.Dst(), in.typeText(), place(in.Src(), in.Off)), nil
	case ST:
		return fmt.Sprintf("*(%s *)%s = %d", in.typeText(), place(in.Dst(), in.Off), in.Imm), nil
	case STX:
		if in.Mode() == Atomic {
			return in.atomicText(), nil
		}
		return fmt.Sprintf("*(%s *)%s = r%d", in.typeText(), place(in.Dst(), in.Off), in.Src()), nil
	}
	return wideText(in, insns[pc+1]), nil
}

// reg returns the name of a register, whole or its low half.
func reg(r uint8, whole bool) string {
	if whole {
		return "r" + strconv.Itoa(int(r))
	}
	return "w" + strconv.Itoa(int(r))
}

// place returns an address as "(r2 + 8)"; sum without the parentheses.
func place(r uint8, off int16) string { return "(" + sum(r, off) + ")" }

func sum(r uint8, off int16) string {
	if off < 0 {
		return fmt.Sprintf("r%d - %d", r, -int(off))
	}
	return fmt.Sprintf("r%d + %d", r, off)
}

// typeText returns the type that a load or store accesses, as "u64".
func (in Insn) typeText() string {
	if in.Mode() == MemSX {
		return fmt.Sprintf("s%d", 8*in.Size())
	}
	return fmt.Sprintf("u%d", 8*in.Size())
}

// second returns the second operand of arithmetic and jumps.
func (in Insn) second() string {
	if in.UsesSrc() {
		return reg(in.Src(), in.Is64())
	}
	return fmt.Sprint(in.Imm)
}

func (in Insn) aluText() string {
	dst, op := reg(in.Dst(), in.Is64()), in.Operation()
	switch {
	case op == End:
		return fmt.Sprintf("r%d = %s%d r%d", in.Dst(), in.endText(), in.Imm, in.Dst())
	case op == Neg:
		return fmt.Sprintf("%s = -%s", dst, dst)
	case op == Mov && in.Off != 0:
		return fmt.Sprintf("%s = (s%d)%s", dst, in.Off, in.second())
	case (op == Div || op == Mod) && in.Off == 1:
		return fmt.Sprintf("%s s%s %s", dst, aluSigns[op>>4], in.second())
	}
	return fmt.Sprintf("%s %s %s", dst, aluSigns[op>>4], in.second())
}

func (in Insn) endText() string {
	switch {
	case in.Is64():
		return "bswap"
	case in.UsesSrc():
		return "be"
	}
	return "le"
}

func (in Insn) jumpText() string {
	switch in.Operation() {
	case Exit:
		return "exit"
	case Call:
		return in.callText()
	case Ja:
		if in.Is64() {
			return fmt.Sprintf("goto %+d", in.Off)
		}
		return fmt.Sprintf("gotol %+d", in.Imm)
	}
	return fmt.Sprintf("if %s %s %s goto %+d", reg(in.Dst(), in.Is64()), jumpSigns[in.Op>>4], in.second(), in.Off)
}

func (in Insn) callText() string {
	switch in.Src() {
	case CallLocal:
		return fmt.Sprintf("call pc%+d", in.Imm)
	case CallKfunc:
		return fmt.Sprintf("call kfunc[id:%d]", in.Imm)
	}
	return fmt.Sprintf("call %d", in.Imm)
}

func (in Insn) atomicText() string {
	whole := in.Size() == 8
	src, at := reg(in.Src(), whole), sum(in.Dst(), in.Off)
	width := "_64"
	if !whole {
		width = "32_32"
	}
	switch {
	case in.Imm == Xchg:
		return fmt.Sprintf("%s = xchg%s(%s, %s)", src, width, at, src)
	case in.Imm == Cmpxchg:
		r0 := reg(0, whole)
		return fmt.Sprintf("%s = cmpxchg%s(%s, %s, %s)", r0, width, at, r0, src)
	case in.Imm&Fetch != 0:
		return fmt.Sprintf("%s = atomic_fetch_%s((%s *)(%s), %s)", src, fetchNames[uint8(in.Imm&^Fetch)], in.typeText(), at, src)
	}
	return fmt.Sprintf("lock *(%s *)(%s) %s %s", in.typeText(), at, aluSigns[in.Imm>>4], src)
}

func wideText(in, second Insn) string {
	value := ""
	switch in.Src() {
	case MapFD:
		value = fmt.Sprintf("map[fd:%d]", in.Imm)
	case MapFDValue:
		value = fmt.Sprintf("map[fd:%d][0]%+d", in.Imm, second.Imm)
	case MapIdx:
		value = fmt.Sprintf("map[idx:%d]", in.Imm)
	case MapIdxVal:
		value = fmt.Sprintf("map[idx:%d][0]%+d", in.Imm, second.Imm)
	case Variable:
		value = fmt.Sprintf("var[id:%d]", in.Imm)
	case Function:
		value = fmt.Sprintf("subprog[%+d]", in.Imm)
	default:
		value = fmt.Sprintf("%#x ll", Wide(in, second))
	}
	return fmt.Sprintf("r%d = %s", in.Dst(), value)
}

// Wide returns the number that the two halves of a 64-bit load hold.
func Wide(first, second Insn) uint64 {
	return uint64(uint32(first.Imm)) | uint64(uint32(second.Imm))<<32
}
