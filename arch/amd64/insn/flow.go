package insn

// Flow is what an instruction does to control flow.
type Flow uint8

// The kinds of control flow.
const (
	Next     Flow = iota // continues with the next instruction, unless it faults
	Jmp                  // direct, rel8 or rel32
	Jcc                  // direct, conditional on flags: see Cond
	Loop                 // loopne, loope, loop, jrcxz: see Inst.LoopTaken
	Call                 // direct
	Ret                  // near, with or without imm16: see StackPop
	JmpInd               // near, through register or memory: FF /4
	CallInd              // FF /2
	FarJmp               // FF /5
	FarCall              // FF /3
	FarRet               // CA, CB
	Iret                 // iret, uiret, erets, eretu
	Int3                 // CC
	Int                  // CD imm8, and INT1 (F1)
	Syscall              // saves IP in RCX, as seen by the kernel
	Sysret               //
	Sysenter             //
	Sysexit              //
	Hlt                  // continues after an interrupt
	Ud                   // ud0, ud1, ud2: always faults
	Xbegin               // direct; goes to Target when the transaction aborts
	Other                // vmlaunch, vmrun, enclu, rsm, xabort ..: control goes elsewhere
	flows
)

var flowName = [flows]string{
	"next", "jmp", "jcc", "loop", "call", "ret", "jmp*", "call*", "far jmp", "far call", "far ret",
	"iret", "int3", "int", "syscall", "sysret", "sysenter", "sysexit", "hlt", "ud", "xbegin", "other",
}

// String returns the kind as a mnemonic or word; an indirect branch has a star.
func (f Flow) String() string {
	if f < flows {
		return flowName[f]
	}
	return "unknown flow"
}

// Direct reports whether the instruction holds a branch displacement, for Target.
func (f Flow) Direct() bool {
	switch f {
	case Jmp, Jcc, Loop, Call, Xbegin:
		return true
	}
	return false
}

// FallsThrough reports whether execution may reach the next instruction without a return, an
// interrupt handler or a debugger.
func (f Flow) FallsThrough() bool {
	switch f {
	case Next, Jcc, Loop, Hlt, Xbegin:
		return true
	}
	return false
}

func flow(in *Inst) Flow {
	switch in.Map {
	case Map1B:
		return flow1(in)
	case Map0F:
		if !in.Prefix.Has(PVEX | PEVEX) {
			return flow2(in)
		}
	}
	return Next
}

func flow1(in *Inst) Flow {
	switch op := in.Opcode; {
	case op>>4 == 7:
		return Jcc
	case op>>2 == 0xE0>>2:
		return Loop
	case op == 0xC6 && in.ModRM == 0xF8: // xabort
		return Other
	case op == 0xC7 && in.ModRM == 0xF8:
		return Xbegin
	}
	switch in.Opcode {
	case 0xC2, 0xC3:
		return Ret
	case 0xCA, 0xCB:
		return FarRet
	case OpInt3:
		return Int3
	case 0xCD, 0xF1:
		return Int
	case 0xCF:
		return Iret
	case 0xE8:
		return Call
	case OpJmp, OpJmp8:
		return Jmp
	case 0xF4:
		return Hlt
	case 0xFF:
		return flowFF(in.Group())
	}
	return Next
}

func flowFF(group uint8) Flow {
	switch group {
	case 2:
		return CallInd
	case 3:
		return FarCall
	case 4:
		return JmpInd
	case 5:
		return FarJmp
	}
	return Next // inc, dec, push
}

func flow2(in *Inst) Flow {
	switch in.Opcode {
	case 0x01:
		return flowSystem(in)
	case 0x05:
		return Syscall
	case 0x07:
		return Sysret
	case 0x0B, 0xB9, 0xFF:
		return Ud
	case 0x34:
		return Sysenter
	case 0x35:
		return Sysexit
	case 0x37, 0xAA: // getsec, rsm
		return Other
	}
	if in.Opcode>>4 == 8 {
		return Jcc
	}
	return Next
}

func flowSystem(in *Inst) Flow {
	switch in.ModRM {
	case 0xC0, 0xC2, 0xC3, 0xCF, 0xD7, 0xD8: // enclv, vmlaunch, vmresume, encls, enclu, vmrun
		return Other
	case 0xCA: // clac; with F2, F3 erets, eretu
		if in.Prefix.Has(PF2 | PF3) {
			return Iret
		}
	case 0xEC: // uiret
		if in.Prefix.Has(PF3) {
			return Iret
		}
	}
	return Next
}
