package kprobes

// Trap context. Instructions that cannot be stepped elsewhere are done here, on
// the saved registers.

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// emulate executes s's instruction on r. What it loads and stores is the
// interrupted code's own memory, so it faults where the instruction would; r is
// not changed before the last access that can.
//
// Context: trap.
func (s *site) emulate(r *amd64.Regs) {
	in := &s.in
	next := uint64(s.addr) + uint64(in.Len)
	to := next
	switch in.Flow {
	case insn.Jmp:
		to = in.Target(uint64(s.addr))
	case insn.Jcc:
		if insn.CondTrue(in.Cond(), r.Flags) {
			to = in.Target(uint64(s.addr))
		}
	case insn.Loop:
		cx, taken := in.LoopTaken(r.CX, r.Flags)
		if r.CX = cx; taken {
			to = in.Target(uint64(s.addr))
		}
	case insn.Call:
		to = in.Target(uint64(s.addr))
		push(r, next)
	case insn.CallInd:
		to = s.operand(r, next)
		push(r, next)
	case insn.JmpInd:
		to = s.operand(r, next)
	case insn.Ret:
		to = load(r.SP)
		r.SP += 8 + uint64(in.StackPop())
	default:
		emulateFlags(in, r)
	}
	r.IP = to
}

// emulateFlags is pushf, popf, cli and sti. The interrupted code's flags are in
// r, not in the CPU: TF and IF are as it has them.
func emulateFlags(in *insn.Inst, r *amd64.Regs) {
	// What popf loads in ring 0, but for TF: Intel SDM vol. 2, "POPF".
	const writable = amd64.RFLAGS_CF | amd64.RFLAGS_PF | amd64.RFLAGS_AF | amd64.RFLAGS_ZF | amd64.RFLAGS_SF |
		amd64.RFLAGS_IF | amd64.RFLAGS_DF | amd64.RFLAGS_OF | amd64.RFLAGS_IOPL | amd64.RFLAGS_NT | amd64.RFLAGS_AC | amd64.RFLAGS_ID
	switch {
	case in.IsPushf():
		push(r, r.Flags&^(amd64.RFLAGS_RF|amd64.RFLAGS_VM))
	case in.IsPopf():
		r.Flags = r.Flags&^writable | load(r.SP)&writable | amd64.RFLAGS_FIXED
		r.SP += 8
	case in.IsCli():
		r.Flags &^= amd64.RFLAGS_IF
	case in.IsSti():
		r.Flags |= amd64.RFLAGS_IF
	}
}

// operand returns the target of an indirect branch.
func (s *site) operand(r *amd64.Regs, next uint64) uint64 {
	var regs [16]uint64
	registers(r, &regs)
	if n := s.in.RMReg(); n != insn.NoReg {
		return regs[n&15]
	}
	return load(s.mem.Addr(&regs, next))
}

// registers stores the general registers of r by hardware number.
func registers(r *amd64.Regs, to *[16]uint64) {
	to[0], to[1], to[2], to[3] = r.AX, r.CX, r.DX, r.BX
	to[4], to[5], to[6], to[7] = r.SP, r.BP, r.SI, r.DI
	to[8], to[9], to[10], to[11] = r.R8, r.R9, r.R10, r.R11
	to[12], to[13], to[14], to[15] = r.R12, r.R13, r.R14, r.R15
}

func push(r *amd64.Regs, v uint64) {
	store(r.SP-8, v)
	r.SP -= 8
}

// load and store reach the interrupted code's memory.
func load(addr uint64) uint64 { return *at(addr) }
func store(addr, v uint64)    { *at(addr) = v }

// at returns addr as a pointer.
// Safe because: the address is what the code's own instruction would use.
func at(addr uint64) *uint64 { return *(**uint64)(unsafe.Pointer(&addr)) }
