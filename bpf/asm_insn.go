package bpf

import (
	"math"
	"strconv"
	"strings"
)

// instruction reads an instruction, up to its last token.
func (a *assembler) instruction() {
	switch a.peek() {
	case "exit":
		a.skip()
		a.emit(Insn{Op: uint8(JMP) | Exit})
	case "call":
		a.skip()
		a.call()
	case "goto":
		a.skip()
		a.jump(Insn{Op: uint8(JMP) | Ja})
	case "gotol":
		a.skip()
		a.jump(Insn{Op: uint8(JMP32) | Ja})
	case "if":
		a.skip()
		a.branch()
	case "lock":
		a.skip()
		a.lock()
	case "*":
		a.store()
	default:
		if _, _, ok := a.peek().asRegister(); !ok {
			a.fail("an instruction: a register, *, if, goto, gotol, call, lock or exit")
			return
		}
		a.assign(a.register())
	}
}

// jump reads where in leads: a distance or a label.
func (a *assembler) jump(in Insn) {
	switch name := a.peek(); {
	case name.isName():
		a.skip()
		a.uses = append(a.uses, use{len(a.insns), a.line, string(name)})
	case name != "+" && name != "-":
		a.fail("a label, or a distance with its sign, such as +3")
	case in.Class() == JMP32 && in.Operation() == Ja:
		in.Imm = int32(a.number(math.MinInt32, math.MaxInt32))
	default:
		in.Off = int16(a.number(math.MinInt16, math.MaxInt16))
	}
	a.emit(in)
}

// branch reads "w1 s> 5 goto +3".
func (a *assembler) branch() {
	dst, whole := a.register()
	op := uint8(a.oneOf("a comparison, such as ==, s> or &", jumpSigns[:])) << 4
	class := JMP
	if !whole {
		class = JMP32
	}
	in := a.second(Insn{Op: uint8(class) | op, Regs: dst}, whole)
	a.expect("goto")
	a.jump(in)
}

// second reads the second operand of arithmetic and branches into in.
func (a *assembler) second(in Insn, whole bool) Insn {
	if next := a.peek(); next.isNumber() || next == "-" || next == "+" {
		in.Imm = a.imm(whole)
		return in
	}
	if _, _, ok := a.peek().asRegister(); !ok {
		a.fail("a register or a number")
	}
	in.Op |= X
	in.Regs |= a.sameWidth(whole) << 4
	return in
}

func (a *assembler) call() {
	in := Insn{Op: uint8(JMP) | Call}
	switch next := a.peek(); {
	case next == "pc" && len(a.rest) > 1:
		a.skip()
		in.Regs = CallLocal << 4
		in.Imm = a.imm(true)
	case next == "kfunc" && len(a.rest) > 1:
		a.skip()
		in.Regs = CallKfunc << 4
		in.Imm = a.bracketed("id")
	case next.isName():
		a.skip()
		in.Regs = CallLocal << 4
		a.uses = append(a.uses, use{len(a.insns), a.line, string(next)})
	case next.isNumber() || next == "-":
		in.Imm = a.imm(true)
	default:
		a.fail("the number of a helper, pc+3, kfunc[id:7] or a label")
	}
	a.emit(in)
}

// bracketed reads "[name:5]".
func (a *assembler) bracketed(name token) int32 {
	a.expect("[", name, ":")
	n := a.imm(true)
	a.expect("]")
	return n
}

// types is what a load or store can access, with the opcode's bits.
var types = map[token]uint8{"u8": Mem | B, "u16": Mem | H, "u32": Mem | W, "u64": Mem | DW,
	"s8": MemSX | B, "s16": MemSX | H, "s32": MemSX | W}

// pointer reads "(u64 *)(r2 + 8)": what is accessed, and where.
func (a *assembler) pointer() (op, r uint8, off int16) {
	a.expect("(")
	op, ok := types[a.peek()]
	if !ok {
		a.fail("a type: u8, u16, u32, u64, s8, s16 or s32")
		return
	}
	a.skip()
	a.expect("*", ")", "(")
	r, off = a.sum()
	a.expect(")")
	return op, r, off
}

// sum reads "r2 + 8".
func (a *assembler) sum() (r uint8, off int16) {
	r = a.sameWidth(true)
	if next := a.peek(); next != "+" && next != "-" {
		a.fail(`"+" or "-"`)
		return
	}
	return r, int16(a.number(math.MinInt16, math.MaxInt16))
}

// store reads "*(u32 *)(r10 - 4) = r1" or "= 5".
func (a *assembler) store() {
	a.expect("*")
	at := a.rest
	op, r, off := a.pointer()
	if op&0xE0 == MemSX {
		a.rest = at[1:]
		a.fail("an unsigned type: a store does not extend")
		return
	}
	a.expect("=")
	in := Insn{Op: op, Regs: r, Off: off}
	if next := a.peek(); next.isNumber() || next == "-" {
		in.Op |= uint8(ST)
		in.Imm = a.imm(op == Mem|DW)
	} else {
		in.Op |= uint8(STX)
		in.Regs |= a.accessed(in) << 4
	}
	a.emit(in)
}

// accessed reads the register that a load or store moves: whole, or a half that is large enough.
func (a *assembler) accessed(in Insn) uint8 {
	if in.Size() < 8 {
		r, _ := a.register()
		return r
	}
	return a.sameWidth(true)
}

// assign reads what stands after the first register of a line.
func (a *assembler) assign(dst uint8, whole bool) {
	class := ALU64
	if !whole {
		class = ALU
	}
	if a.accept("=") {
		a.value(dst, class)
		return
	}
	in := Insn{Op: uint8(class), Regs: dst}
	if a.accept("s/=") {
		in.Op, in.Off = in.Op|Div, 1
	} else if a.accept("s%=") {
		in.Op, in.Off = in.Op|Mod, 1
	} else {
		in.Op |= uint8(a.oneOf("=, or an operation such as += or s>>=", aluSigns[:])) << 4
	}
	a.emit(a.second(in, whole))
}

// value reads what stands after "r1 =".
func (a *assembler) value(dst uint8, class Class) {
	whole := class == ALU64
	in := Insn{Op: uint8(class), Regs: dst}
	switch next := a.peek(); {
	case next == "*":
		a.load(dst, whole)
	case next == "(":
		a.extend(in)
	case next == "-" && len(a.rest) > 1 && !a.rest[1].isNumber():
		a.skip()
		a.repeat(dst, whole)
		in.Op |= Neg
		a.emit(in)
	case a.isByteOrder(next):
		a.byteOrder(dst, whole)
	case a.isAtomic(next):
		a.fetch(dst, whole)
	case a.isReference(next):
		a.reference(dst, whole)
	case whole && a.endsInLL():
		n := a.number(math.MinInt64, math.MaxUint64)
		a.expect("ll")
		a.emitWide(dst, Number, int32(n), int32(n>>32))
	default:
		in.Op |= Mov
		a.emit(a.second(in, whole))
	}
}

// load reads "*(u64 *)(r2 + 8)".
func (a *assembler) load(dst uint8, whole bool) {
	a.expect("*")
	at := a.rest
	op, r, off := a.pointer()
	in := Insn{Op: uint8(LDX) | op, Regs: dst | r<<4, Off: off}
	if !whole && a.err == nil && (in.Size() == 8 || in.Mode() == MemSX) {
		a.rest = at[1:]
		a.fail("u8, u16 or u32 for the low half of a register")
	}
	a.emit(in)
}

// extend reads "(s8)r2" into a move.
func (a *assembler) extend(in Insn) {
	a.expect("(")
	widths := []string{"s8", "s16", "s32"}
	if !in.Is64() {
		widths = widths[:2]
	}
	in.Off = int16(8) << a.oneOf("what to extend: "+strings.Join(widths, ", "), widths)
	a.expect(")")
	in.Op |= Mov | X
	in.Regs |= a.sameWidth(in.Is64()) << 4
	a.emit(in)
}

// endsInLL tells whether a number with "ll" after it is next.
func (a *assembler) endsInLL() bool {
	at := 0
	if next := a.peek(); next == "-" || next == "+" {
		at = 1
	}
	return len(a.rest) > at+1 && a.rest[at].isNumber() && a.rest[at+1] == "ll"
}

func (a *assembler) emitWide(dst, kind uint8, first, second int32) {
	a.emit(Insn{Op: uint8(LD) | Imm64 | DW, Regs: dst | kind<<4, Imm: first}, Insn{Imm: second})
}

// byteOrders is the opcodes of "be16 r1" and its like, without the width.
var byteOrders = map[string]uint8{"le": uint8(ALU) | End | K, "be": uint8(ALU) | End | X, "bswap": uint8(ALU64) | End}

func (a *assembler) isByteOrder(t token) bool {
	_, ok := byteOrders[strings.TrimRight(string(t), "0123456789")]
	return ok
}

// byteOrder reads "be16 r1".
func (a *assembler) byteOrder(dst uint8, whole bool) {
	word := string(a.peek())
	name := strings.TrimRight(word, "0123456789")
	bits, _ := strconv.Atoi(word[len(name):])
	if !whole || bits != 16 && bits != 32 && bits != 64 {
		a.fail("be16, be32, be64 and the like with le or bswap, of a whole register")
		return
	}
	a.skip()
	a.repeat(dst, true)
	a.emit(Insn{Op: byteOrders[name], Regs: dst, Imm: int32(bits)})
}
