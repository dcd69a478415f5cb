package insn

// Reason says why an instruction cannot be moved. The zero Reason is that it can.
type Reason uint8

// The reasons.
const (
	Fine        Reason = iota
	StrayREX           // assemblers do not write it: probably not code
	BadLock            // #UD; it is probably not code
	Branch66           // Intel ignores the 66, AMD truncates IP to 16 bits
	RIP67              // EIP-relative: correcting disp32 gives another address
	Breakpoint         // an int3 of other code, or padding
	Undefined          // it faults, and the fault reports the address
	Interrupt          // int, int1: pushes IP
	Far                // far call, jmp, ret: changes CS
	Iretq              // iret and kin: load flags and stack, and end an NMI
	SystemCall         // syscall, sysenter and their returns
	IdleWait           // hlt, mwait: a copy might be freed under a sleeping CPU
	InShadow           // sti, mov ss, pop ss: it affects the next instruction
	Hypervisor         // vmcall and its kin: the hypervisor inspects the place
	Transaction        // xbegin, xend, xabort
	Obsolete           // 3DNow!: no present CPU has it, untested
	Elsewhere          // vmlaunch, enclu, rsm ..
	Undecoded          // the zero Inst, as Decode returns it with an error
	reasons
)

var reasonText = [reasons]string{
	Fine:        "can be moved",
	StrayREX:    "a REX prefix is not in its place",
	BadLock:     "a lock prefix is not allowed on this instruction",
	Branch66:    "processors disagree about a branch with operand-size prefix",
	RIP67:       "the address is EIP-relative",
	Breakpoint:  "it is a breakpoint already",
	Undefined:   "it always faults",
	Interrupt:   "it is a software interrupt",
	Far:         "it is a far branch",
	Iretq:       "it returns from an interrupt",
	SystemCall:  "it enters or leaves the kernel",
	IdleWait:    "the CPU may sleep in it",
	InShadow:    "it shields the next instruction from interrupts",
	Hypervisor:  "it calls the hypervisor",
	Transaction: "it belongs to a memory transaction",
	Obsolete:    "it is a 3DNow! instruction",
	Elsewhere:   "it transfers control by special rules",
	Undecoded:   "it has not been decoded",
}

// String returns a short clause, as in "insn: cannot be moved: it is a far branch".
func (r Reason) String() string {
	if r < reasons {
		return reasonText[r]
	}
	return "unknown reason"
}

// Movable returns Fine if a copy of the instruction can do its work at another address, or the
// reason why not.
//
// The caller still has to correct a RIPRel disp32 and to rewrite or emulate an instruction that is
// not Next: direct branches keep their Target, calls push the address after the original. Where
// RIP is visible in other ways (the FIP of x87 environments, the trace packets of PTWRITE) it is
// the copy's address; a fault in the copy reports the copy's address, which the trap path
// translates.
func (i *Inst) Movable() Reason {
	switch p := i.Prefix; {
	case i.Len == 0:
		return Undecoded
	case p.Has(PStray):
		return StrayREX
	case p.Has(PLock) && !i.lockable():
		return BadLock
	case i.RIPRel && p.Has(P67):
		return RIP67
	case i.Trait.Has(Tx):
		return Transaction
	case i.Flow != Next && p.Has(P66) && i.REX&REXW == 0:
		return Branch66
	}
	if r := i.Flow.reason(); r != Fine {
		return r
	}
	switch t := i.Trait; {
	case t.Has(Shadow):
		return InShadow
	case t.Has(Wait):
		return IdleWait
	case t.Has(Hyper):
		return Hypervisor
	case t.Has(Retired):
		return Obsolete
	}
	return Fine
}

func (f Flow) reason() Reason {
	switch f {
	case Next, Jmp, Jcc, Loop, Call, Ret, JmpInd, CallInd:
		return Fine
	case FarJmp, FarCall, FarRet:
		return Far
	case Iret:
		return Iretq
	case Int3:
		return Breakpoint
	case Int:
		return Interrupt
	case Syscall, Sysret, Sysenter, Sysexit:
		return SystemCall
	case Hlt:
		return IdleWait
	case Ud:
		return Undefined
	}
	return Elsewhere
}

// Boostable reports whether a copy followed by a jump back does the whole work, with nothing to do
// before or after except correcting a RIPRel disp32.
//
// Not boostable, in addition to what is not Movable:
//   - control flow: the jump back would not be reached, or a call would push
//     an address inside the copy;
//   - popf: may set TF, whose trap would come in the copy.
//
// Boostable, although stepping them needs care:
//   - pushf, cli: no TF is in the flags and IF is the program's own;
//   - in, out, ins, outs: the address of the instruction does not matter to them;
//   - rep: an interrupt in the middle returns to the copy;
//   - Machine: no trap comes between it and the jump back. After a write to
//     CR0, CR3 or CR4 the copy must still be mapped.
func (i *Inst) Boostable() bool {
	return i.Flow == Next && !i.Trait.Has(Popf) && i.Movable() == Fine
}

// Steppable reports whether a copy can be executed with TF set, in a trap path that saves and
// restores all registers. Not steppable, in addition to what is not Boostable:
//   - pushf stores TF, and cli clears an IF that the stepper keeps itself: emulate them;
//   - Machine: the #DB would find other FS or GS bases, page or descriptor tables or
//     debug registers than the trap path expects.
//
// A stepped Rep causes a trap per iteration: see IsRep.
func (i *Inst) Steppable() bool { return i.Boostable() && !i.Trait.Has(Pushf|Cli|Machine) }

// Emulable reports whether the instruction can be emulated from the saved registers, flags and
// memory: near branches, calls and returns, pushf, popf, cli, sti.
//
// Emulating sti loses its shadow: an interrupt may come before the next instruction, so do not
// emulate it in front of hlt or mwait. Indirect branches whose operand MemOperand does not return
// cannot be emulated; check that, too.
func (i *Inst) Emulable() bool {
	switch i.Flow {
	case Jmp, Jcc, Loop, Call, Ret, JmpInd, CallInd:
		return i.Movable() == Fine
	case Next:
		return i.Trait.Has(Pushf|Popf|Cli|Sti) && !i.Prefix.Has(PStray|PLock|P66)
	}
	return false
}

// lockable reports whether LOCK is allowed: a read-modify-write of memory. All
// such instructions are in the first two maps.
//
// Source: Intel SDM vol. 2, "LOCK".
func (i *Inst) lockable() bool {
	switch {
	case !i.HasMem():
		return false
	case i.Map == Map1B:
		return lockable1(i.Opcode, i.Group())
	case i.Map == Map0F:
		return lockable2(i.Opcode, i.Group())
	}
	return false
}

func lockable2(op, g uint8) bool {
	switch op {
	case 0xAB, 0xB3, 0xBB, 0xB0, 0xB1, 0xC0, 0xC1: // bts, btr, btc, cmpxchg, xadd
		return true
	case 0xBA:
		return g >= 5
	case 0xC7: // cmpxchg8b, cmpxchg16b
		return g == 1
	}
	return false
}

func lockable1(op, g uint8) bool {
	switch op {
	case 0x80, 0x81, 0x83: // all but cmp
		return g < 7
	case 0x86, 0x87: // xchg
		return true
	case 0xF6, 0xF7: // not, neg
		return g == 2 || g == 3
	case 0xFE, 0xFF: // inc, dec
		return g < 2
	}
	return op < 0x38 && op&7 < 2 // add .. xor to memory
}
