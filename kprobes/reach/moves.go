package reach

import (
	"fmt"
	"reflect"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// Where IP and SP are in an amd64.Regs, in bytes.
var ipAt, spAt = fieldAt("IP"), fieldAt("SP")

func fieldAt(name string) int64 {
	f, _ := reflect.TypeFor[amd64.Regs]().FieldByName(name)
	return int64(f.Offset)
}

// KeepsSpot returns nil if the handler at addr leaves IP and SP of the amd64.Regs that it gets
// alone, whatever it calls. Any store at their distance from a register counts as one to them, and
// so does the computing of such an address.
//
// Errors: as KeepsSSE.
func (g *Graph) KeepsSpot(addr uint64) error {
	return g.prove(addr, noReturn, calls, func(f *Func) string {
		if f.Moves >= 0 {
			return fmt.Sprintf("+%#x may write IP or SP", f.Moves)
		}
		return f.doubt(false)
	})
}

// mayMove reports whether in may write IP or SP of an amd64.Regs that a register points to. What
// lies on the stack is no handler's, and what has an index, as in counts[cpu]++, is no field.
func mayMove(in *insn.Inst) bool {
	const (
		word = 8
		most = 64 // bytes that an instruction stores
	)
	if copies(in) {
		return true
	}
	m, ok := in.MemOperand()
	if !ok || m.RIPRel || m.Base == insn.RSP || m.Index != insn.NoReg || onlyReads(in) {
		return false
	}
	over := func(at int64) bool { return m.Disp < at+word && m.Disp+most > at }
	if in.Map == insn.Map1B { // general registers and immediates: a word at most
		over = func(at int64) bool { return m.Disp < at+word && m.Disp+word > at }
	}
	return over(ipAt) || over(spAt)
}

// copies reports whether in is a string instruction that stores.
func copies(in *insn.Inst) bool {
	return in.Map == insn.Map1B && (in.Opcode&^1 == 0xa4 || in.Opcode&^1 == 0xaa)
}

// onlyReads lists the instructions with a memory operand that do not write it, as compilers make them.
//
// Source: Intel SDM vol. 2, "Opcode Map".
func onlyReads(in *insn.Inst) bool {
	op := in.Opcode
	if in.Map != insn.Map1B {
		return in.Map == insn.Map0F && (op>>4 == 4 || op == 0x1f || op>>4 == 1 && op != 0x11 || op == 0xaf || op >= 0xb6 && op <= 0xb8 ||
			op >= 0xbc && op <= 0xbf || op == 0xa3 || op == 0xba && in.Group() == 4 || op == 0x2e || op == 0x2f || op == 0x6f)
	}
	switch {
	case op < 0x40: // of ADD to CMP: the forms that load, and CMP
		return op&7 == 2 || op&7 == 3 || op>>3 == 7
	case op == 0x80, op == 0x81, op == 0x83: // with an immediate: CMP
		return in.Group() == 7
	case op == 0xf6, op == 0xf7: // TEST, MUL to DIV; not NOT and NEG
		return in.Group() != 2 && in.Group() != 3
	case op == 0xff: // CALL, JMP, PUSH; not INC and DEC
		return in.Group() >= 2
	}
	return op == 0x8a || op == 0x8b || op == 0x84 || op == 0x85 || op == 0x63 || op == 0x69 || op == 0x6b
}
