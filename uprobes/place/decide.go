package place

import (
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/insn/emulate"
)

func (p *Plan) allow(all ...Way) {
	for _, w := range all {
		p.allowed |= 1 << w
	}
}

// decide finds the ways, and why there is none. [insn.Inst.Movable] answers for ring 0;
// most of what it refuses does no harm in ring 3.
func (p *Plan) decide() insn.Reason {
	p.In.Prefix &^= insn.PStray // of no effect, and the tables have not counted it
	in := &p.In
	why := in.Movable()
	switch why {
	case insn.Fine:
		p.ordinary()
	case insn.BadLock, insn.Undefined, insn.Obsolete: // they fault
		p.allow(Boost, Step)
	case insn.IdleWait, insn.InShadow: // they fault, or set SS
		p.allow(Boost)
	case insn.RIP67:
		if in.Flow == insn.Next || in.Flow == insn.JmpInd {
			p.allow(Step)
		}
	case insn.Branch66:
		if in.Flow == insn.Ret || in.Flow == insn.JmpInd {
			p.allow(Step) // where they go does not depend on where they are
		}
	case insn.Interrupt:
		if in.Opcode == 0xCD && in.Imm() != 3 {
			p.allow(Boost)
		} else {
			why = insn.Breakpoint
		}
	case insn.Far:
		if in.Flow != insn.FarCall {
			p.allow(Step)
		}
	case insn.Iretq:
		if in.Map == insn.Map1B { // not UIRET
			p.allow(Step)
		}
	case insn.SystemCall:
		p.systemCall()
	case insn.Transaction:
		if in.RelLen == 0 || in.RelLen == 4 {
			p.allow(Boost)
		}
	}
	return why
}

// systemCall is SYSCALL, and those of its kin that fault in 64-bit programs.
func (p *Plan) systemCall() {
	switch {
	case p.In.Flow != insn.Syscall:
		p.allow(Boost)
	case !p.In.Prefix.Has(insn.PLock):
		p.allow(Syscall)
	}
}

// ordinary is what can be moved in ring 0, too.
func (p *Plan) ordinary() {
	in := &p.In
	if in.Boostable() {
		p.allow(Boost)
	}
	if in.Flow == insn.Next && !in.Trait.Has(insn.Pushf|insn.Cli) {
		p.allow(Step)
	}
	switch {
	case nop(in):
		p.allow(Nothing)
	case in.IsCli(): // faults
	default:
		var ok bool
		if p.op, ok = emulate.New(in, p.Addr); ok {
			p.allow(Emulate)
		}
	}
}

// nop reports whether the instruction does nothing in ring 3: NOP of all lengths,
// PAUSE, ENDBR64 and ENDBR32.
//
// Source: Intel SDM vol. 2, "NOP", "ENDBR64".
func nop(in *insn.Inst) bool {
	switch {
	case in.Prefix.Has(insn.PVEX | insn.PEVEX): // with LOCK it is not movable
		return false
	case in.Map == insn.Map1B:
		return in.Opcode == 0x90 && in.REX&insn.REXB == 0
	case in.Map == insn.Map0F && in.Opcode == 0x1F:
		return true
	}
	return in.Map == insn.Map0F && in.Opcode == 0x1E && in.Prefix.Has(insn.PF3) && (in.ModRM == 0xFA || in.ModRM == 0xFB)
}
