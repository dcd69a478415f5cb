// Package emulate executes some instructions on saved registers: near branches, calls and
// returns, which a copy at another address would get wrong, and PUSHF, POPF, CLI and STI,
// which must use the interrupted code's flags.
//
// An instruction is decoded once, into an Op. Executing it takes three steps; the second,
// the access to memory, is the caller's:
//
//	var v uint64
//	if addr, ok := op.Loads(r, base); ok {
//		v = ... // the 8 bytes at addr
//	}
//	if p, ok := op.Pushes(r); ok {
//		... // p to the 8 bytes at r.SP-8
//	}
//	op.Finish(r, v)
//
// No instruction here loads or stores more than that. An access may fail, by a fault or
// with an error: the registers are unchanged then, so the instruction can be made to fault,
// or be repeated.
//
// # What was rejected
//
// An interface with Load and Store, called from here: each emulation would have to check
// for errors, and in the trap path it would be an indirect call, which the walks over the
// image that find what a trap reaches cannot follow. The same is true of a method of a type
// parameter.
package emulate

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// Op is an instruction that can be emulated. The zero Op cannot.
type Op struct {
	in     insn.Inst
	mem    insn.Mem // operand of an indirect branch, if
	hasMem bool
	next   uint64 // the address after the instruction
	target uint64 // of a direct branch
}

// New returns the emulation of in at address addr; false if there is none, because in is of another
// kind or its operand is not certain.
//
// CLI and STI are emulated as ring 0 executes them; in ring 3 they fault, so do not emulate them
// there.
//
// Context: any.
func New(in *insn.Inst, addr uint64) (Op, bool) {
	op := Op{in: *in, next: addr + uint64(in.Len), target: in.Target(addr)}
	if !in.Emulable() {
		return Op{}, false
	}
	if in.Flow == insn.JmpInd || in.Flow == insn.CallInd {
		op.mem, op.hasMem = in.MemOperand()
		if !op.hasMem && in.RMReg() == insn.NoReg {
			return Op{}, false
		}
	}
	return op, true
}

// Seg returns the segment whose base Loads needs, usually SegNone.
//
// Context: any.
func (op *Op) Seg() insn.Seg { return op.mem.Seg }

// Loads returns the address of the 8 bytes that the instruction loads; false if it loads nothing.
// base is the base of the segment Seg.
//
// Context: any, including trap context.
func (op *Op) Loads(r *amd64.Regs, base uint64) (addr uint64, ok bool) {
	switch {
	case op.hasMem:
		var regs [16]uint64
		r.General(&regs)
		return base + op.mem.Addr(&regs, op.next), true
	case op.in.Flow == insn.Ret || op.in.IsPopf():
		return r.SP, true
	}
	return 0, false
}

// Pushes returns what the instruction stores at SP-8; false if it stores nothing.
//
// Context: any, including trap context.
func (op *Op) Pushes(r *amd64.Regs) (v uint64, ok bool) {
	switch {
	case op.in.Flow == insn.Call || op.in.Flow == insn.CallInd:
		return op.next, true
	case op.in.IsPushf():
		return r.Flags &^ (amd64.RFLAGS_RF | amd64.RFLAGS_VM), true
	}
	return 0, false
}

// Finish changes r as the instruction changes registers, flags and IP. loaded is the value at the
// address that Loads returned, if any.
//
// Context: any, including trap context.
// Source:  Intel SDM vol. 2, "CALL", "Jcc", "JMP", "LOOP/LOOPcc", "RET".
func (op *Op) Finish(r *amd64.Regs, loaded uint64) {
	to := op.next
	switch op.in.Flow {
	case insn.Jmp:
		to = op.target
	case insn.Jcc:
		if insn.CondTrue(op.in.Cond(), r.Flags) {
			to = op.target
		}
	case insn.Loop:
		cx, taken := op.in.LoopTaken(r.CX, r.Flags)
		if r.CX = cx; taken {
			to = op.target
		}
	case insn.Call:
		to = op.target
		r.SP -= 8
	case insn.CallInd:
		to = op.indirect(r, loaded)
		r.SP -= 8
	case insn.JmpInd:
		to = op.indirect(r, loaded)
	case insn.Ret:
		to = loaded
		r.SP += 8 + uint64(op.in.StackPop())
	default:
		op.flags(r, loaded)
	}
	r.IP = to
}

// indirect returns the target of an indirect branch.
func (op *Op) indirect(r *amd64.Regs, loaded uint64) uint64 {
	if op.hasMem {
		return loaded
	}
	var regs [16]uint64
	r.General(&regs)
	return regs[op.in.RMReg()&15]
}

// The flags that POPF loads, in ring 3 and in ring 0. TF is not among them: the caller decides
// about it.
//
// Source: Intel SDM vol. 2, "POPF/POPFD/POPFQ".
const (
	popUser = amd64.RFLAGS_CF | amd64.RFLAGS_PF | amd64.RFLAGS_AF | amd64.RFLAGS_ZF | amd64.RFLAGS_SF |
		amd64.RFLAGS_DF | amd64.RFLAGS_OF | amd64.RFLAGS_NT | amd64.RFLAGS_AC | amd64.RFLAGS_ID
	popKernel = popUser | amd64.RFLAGS_IF | amd64.RFLAGS_IOPL
)

// flags executes pushf, popf, cli and sti. It uses the flags in r, not the CPU's.
func (op *Op) flags(r *amd64.Regs, loaded uint64) {
	switch {
	case op.in.IsPushf():
		r.SP -= 8
	case op.in.IsPopf():
		writable := uint64(popKernel)
		if r.CS&3 != 0 { // IOPL is 0: only ring 0 changes IF
			writable = popUser
		}
		r.Flags = r.Flags&^writable | loaded&writable | amd64.RFLAGS_FIXED
		r.SP += 8
	case op.in.IsCli():
		r.Flags &^= amd64.RFLAGS_IF
	case op.in.IsSti():
		r.Flags |= amd64.RFLAGS_IF
	}
}
