package reach

import (
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
)

// Stack is what a function does to SP. Frames are made and left by adding to SP,
// LEA of SP or BP, and LEAVE; none of that counts.
type Stack struct {
	Leaves bool // it loads SP with what is no address on the stack it was called on
	Comes  bool // it loads SP with what it has kept of it in a register
	kept   uint16
}

// Switches reports whether the function may return, if at all, on another stack
// than it was called on. One that leaves its stack and comes back to a kept SP,
// as calls of a vDSO do, does not. So no list of such functions is kept by hand, but for the five
// that do not return to their caller (rules.go).
func (s *Stack) Switches() bool { return s.Leaves && !s.Comes }

// note looks at one instruction.
func (s *Stack) note(in *insn.Inst) {
	if in.Map != insn.Map1B || in.Prefix.Has(insn.PVEX|insn.PEVEX) {
		return
	}
	if to, from, ok := move(in); ok {
		switch {
		case from == insn.RSP:
			s.kept |= 1 << to
		case to != insn.RSP || from == insn.RBP:
		case s.kept>>from&1 != 0:
			s.Comes = true
		default:
			s.Leaves = true
		}
		return
	}
	s.Leaves = s.Leaves || loadsSP(in)
}

// move recognizes MOV between general registers.
func move(in *insn.Inst) (to, from int8, ok bool) {
	rm := in.RMReg()
	switch {
	case rm == insn.NoReg:
	case in.Opcode == 0x89:
		return rm, in.Reg(), true
	case in.Opcode == 0x8b:
		return in.Reg(), rm, true
	}
	return 0, 0, false
}

// loadsSP recognizes what else gives SP a value from elsewhere.
func loadsSP(in *insn.Inst) bool {
	switch in.Opcode {
	case 0x8b: // MOV SP, m
		return in.Reg() == insn.RSP
	case 0x8d: // LEA SP, m
		m, ok := in.MemOperand()
		return in.Reg() == insn.RSP && (!ok || m.Base != insn.RSP && m.Base != insn.RBP)
	case 0x87: // XCHG r/m, r
		return in.RMReg() == insn.RSP || in.Reg() == insn.RSP
	case 0x94, 0x5c: // XCHG AX, SP; POP SP
		return in.REX&insn.REXB == 0
	case 0x8f: // POP r/m
		return in.RMReg() == insn.RSP
	}
	return in.Flow == insn.Iret
}

// SwitchesStacks returns why a return probe on the function at addr cannot work, ""
// if it can: it, or what it ends with a jump to, does not return on the stack it
// was called on, or not to its caller.
func (g *Graph) SwitchesStacks(addr uint64) (why string) {
	tails := func(f *Func) []uint64 { return f.Tails }
	g.walk([]uint64{addr}, tails, func(fn kallsyms.Symbol, from Reached) Next {
		switch f, ok := g.At(fn.Addr); {
		case ok && f.Stack.Switches():
			why = "switches stacks"
		case neverReturn.fits(fn.Name):
			why = "does not return to its caller"
		default:
			return Into
		}
		if fn.Addr != addr {
			why += " (" + Arrows(g.Path(from, fn.Addr)) + ")"
		}
		return Stop
	})
	return why
}
