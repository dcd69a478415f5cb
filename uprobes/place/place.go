// Package place decides how an instruction of a program is executed while a breakpoint is
// in its place: what the kernel does, on the saved registers, and what a copy does, in a
// slot of the program's single-step area. It depends neither on probes nor on the machine.
//
// # The ways
//
// From the cheapest: Nothing (NOP, ENDBR64), Boost (the copy runs, followed by a jump
// back), Emulate (near branches, calls, returns), Step (the copy is single-stepped). SYSCALL is
// a way of its own: the thread is in the kernel already, so the system call is made from
// there.
//
// An instruction that faults by itself (UD2, HLT, CLI, INT n, privileged instructions, a
// wrong LOCK) does so in its copy. The IP in the frame of a fault, and of a signal, must be
// mapped back by Undo or Back; then the program sees what it would have seen without a
// probe, whatever the CPU does with the instruction.
//
// # Copies
//
// A RIP-relative operand stays in place: its displacement is corrected. If the slot is too
// far away for that, the copy addresses it with a register that the instruction does not
// use, which Enter loads and After restores; such a copy is stepped. So is one with an
// EIP-relative operand (prefix 67). The jump back, which stepped copies have as well, is
// direct, or if it is far an indirect one through the word after it.
//
// # TF
//
// Step sets TF in the flags, and After restores the program's, except after POPF and IRET,
// which have loaded it. PUSHF is emulated or boosted, never stepped, because it would store
// TF. A program that single-steps itself has TF set when it hits the breakpoint, and must
// get a #DB after the probed instruction. See [Plan.DueDB].
//
// # What is refused
//
// The program's own breakpoints (INT3, CD 03, INT1); far calls, which push the address of
// the copy, and near ones whose operand is uncertain; direct branches with an operand-size
// prefix, about which processors disagree; calls to the hypervisor, which may patch the
// copy; UIRET, ENCLU and others that follow rules of their own.
//
// # What is visible all the same
//
// The address of the last x87 instruction (FNSTENV, FXSAVE) is the copy's. A breakpoint
// aborts a transaction before the hit: the program continues as after any abort. MOV SS
// does not hold off a breakpoint. Branch tracking by ENDBR64 (CET) is off in ring 3.
package place

import (
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/insn/emulate"
	"sonde/kernel/refusal"
)

// Way is how an instruction is executed.
type Way uint8

// The ways.
const (
	Refused Way = iota
	Nothing     // IP goes after it
	Boost       // the copy in the slot runs, and jumps back
	Emulate     // on the saved registers and the program's memory
	Step        // the copy in the slot is single-stepped
	Syscall     // a system call, made from where the hit is served
	ways
)

var wayName = [ways]string{"refused", "nothing", "boosted", "emulated", "stepped", "system call"}

// String returns the way as a word of a sentence.
func (w Way) String() string {
	if w < ways {
		return wayName[w]
	}
	return "unknown way"
}

// Plan is an instruction at its place, and how it is executed. It does not change.
type Plan struct {
	Addr uint64
	Way  Way
	In   insn.Inst
	Code [insn.MaxLen]byte // the instruction, In.Len bytes

	allowed uint8 // a bit per Way
	op      emulate.Op
}

// Decide returns the plan for the instruction that code begins with and that stands at
// addr.
//
// Errors: EILSEQ it is no instruction, or one that cannot be probed, with the reason.
func Decide(code []byte, addr uint64) (*Plan, error) {
	in, err := insn.Decode(code)
	if err != nil {
		return nil, refusal.New(syscall.EILSEQ, "%v", err)
	}
	p := &Plan{Addr: addr, In: in}
	copy(p.Code[:], code[:in.Len])
	why := p.decide()
	if p.allowed == 0 {
		return nil, refusal.New(syscall.EILSEQ, "the instruction cannot be probed: %v", why)
	}
	for p.Way = Nothing; !p.Allows(p.Way); p.Way++ {
	}
	return p, nil
}

// Allows reports whether the instruction can be done in that way.
//
// Context: any.
func (p *Plan) Allows(w Way) bool { return p.allowed>>w&1 != 0 }

// As returns a plan that does the same in another way, which Allows.
//
// Errors: EOPNOTSUPP it cannot be done in that way.
func (p *Plan) As(w Way) (*Plan, error) {
	if !p.Allows(w) {
		return nil, refusal.New(syscall.EOPNOTSUPP, "the instruction cannot be %v", w)
	}
	n := *p
	n.Way = w
	return &n, nil
}

// Len returns the length of the instruction.
func (p *Plan) Len() int { return int(p.In.Len) }

// Next returns the address after the instruction.
//
// Context: any.
func (p *Plan) Next() uint64 { return p.Addr + uint64(p.In.Len) }

// DueDB reports whether the program, with these flags at the hit, is due a #DB when the
// instruction is done: it has set TF itself.
//
// Context: any.
func (p *Plan) DueDB(flags uint64) bool { return flags&insn.FlagTF != 0 }
