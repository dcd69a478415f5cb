package insn

// Trait is a set of properties of an instruction that matter for moving, stepping or emulating it.
// Control flow is in Flow.
type Trait uint16

// The traits.
const (
	Push    Trait = 1 << iota // pushes by way of RSP: push, pushf, enter, calls
	Pop                       // pops by way of RSP: pop, popf, leave, near returns
	Pushf                     // stores RFLAGS, with TF and IF
	Popf                      // loads RFLAGS, with TF and IF
	Cli                       // clears IF
	Sti                       // sets IF, with a shadow
	Shadow                    // holds off interrupts and #DB until the next instruction is done
	String                    // movs cmps stos lods scas ins outs
	Rep                       // a String that repeats itself: may be interrupted with IP on itself
	Machine                   // changes state that a trap entry needs: FS and GS base, MSR, CR, DR, IDT, GDT, TR
	Wait                      // hlt, mwait, monitor and the like: a CPU idles there, or a trap ends it
	Hyper                     // calls the hypervisor, which may patch or inspect the site
	Tx                        // begins, ends or aborts a transaction
	Retired                   // 3DNow!: no present CPU has it
)

// Has reports whether any trait of u is present.
func (t Trait) Has(u Trait) bool { return t&u != 0 }

// IsPushf reports whether the instruction is PUSHF.
func (i *Inst) IsPushf() bool { return i.Trait.Has(Pushf) }

// IsPopf reports whether the instruction is POPF.
func (i *Inst) IsPopf() bool { return i.Trait.Has(Popf) }

// IsCli reports whether the instruction is CLI.
func (i *Inst) IsCli() bool { return i.Trait.Has(Cli) }

// IsSti reports whether the instruction is STI.
func (i *Inst) IsSti() bool { return i.Trait.Has(Sti) }

// IsRep reports whether the instruction is a repeated string instruction. Single-stepping it traps
// after each iteration with IP still on it: the stepper must continue until IP has left it.
//
// Source: Intel SDM vol. 3, "Single-Step Exception Condition".
func (i *Inst) IsRep() bool { return i.Trait.Has(Rep) }

func trait(in *Inst) Trait {
	switch in.Map {
	case Map1B:
		return trait1(in)
	case Map0F:
		if !in.Prefix.Has(PVEX | PEVEX) {
			return trait2(in)
		}
	}
	return 0
}

func trait1(in *Inst) Trait {
	switch op := in.Opcode; op {
	case 0x68, 0x6A, 0xC8, 0xE8: // push, enter, call
		return Push
	case 0x8E:
		return segment(in.Group())
	case 0x8F, 0xC2, 0xC3, 0xC9: // pop, ret, leave
		return Pop
	case 0x9C:
		return Pushf | Push
	case 0x9D:
		return Popf | Pop
	case 0xC6, 0xC7:
		if in.ModRM == 0xF8 {
			return Tx
		}
	case 0xF4:
		return Wait
	case 0xFA:
		return Cli
	case 0xFB:
		return Sti | Shadow
	case 0xFF:
		if g := in.Group(); g == 2 || g == 3 || g == 6 {
			return Push
		}
	case 0x6C, 0x6D, 0x6E, 0x6F, 0xA4, 0xA5, 0xA6, 0xA7, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF:
		if in.Prefix.Has(PF2 | PF3) {
			return String | Rep
		}
		return String
	}
	switch in.Opcode &^ 7 {
	case 0x50:
		return Push
	case 0x58:
		return Pop
	}
	return 0
}

// segment is mov to a segment register. SS has a shadow; the trap entry uses the bases of FS and
// GS.
//
// Source: Intel SDM vol. 3, "Masking Exceptions and Interrupts When Switching Stacks".
func segment(group uint8) Trait {
	switch group {
	case 2:
		return Shadow
	case 4, 5:
		return Machine
	}
	return 0
}

func trait2(in *Inst) Trait {
	switch in.Opcode {
	case 0x00: // lldt, ltr; lkgs
		if g := in.Group(); g == 2 || g == 3 || g == 6 {
			return Machine
		}
	case 0x01:
		return traitSystem(in)
	case 0x0E, 0x0F: // femms and the rest
		return Retired
	case 0xA0, 0xA8: // push fs, gs
		return Push
	case 0xA1, 0xA9: // pop fs, gs
		return Pop | Machine
	case 0x06, 0x22, 0x23, 0x30, 0xB4, 0xB5: // clts, mov to CR, DR, wrmsr, lfs, lgs
		return Machine
	case 0xB2: // lss: the manual gives it no shadow, but do not count on that
		return Shadow
	case 0xAE:
		return traitFence(in)
	}
	return 0
}

// traitFence is 0F AE with a register.
func traitFence(in *Inst) Trait {
	g := in.Group()
	switch {
	case in.Mod() != 3:
		return 0
	case in.Prefix.Has(PF3) && (g == 2 || g == 3): // wrfsbase, wrgsbase
		return Machine
	case g == 6 && in.Prefix.Has(PF3|PF2|P66): // umonitor, umwait, tpause
		return Wait
	}
	return 0
}

func traitSystem(in *Inst) Trait {
	if in.Mod() != 3 {
		if g := in.Group(); g == 2 || g == 3 || g == 6 { // lgdt, lidt, lmsw
			return Machine
		}
		return 0
	}
	switch in.ModRM {
	case 0xC1, 0xD4, 0xD9: // vmcall, vmfunc, vmmcall
		return Hyper
	case 0xC4, 0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF: // vmxoff, vmload .. invlpga
		return Hyper
	case 0xC6, 0xD1, 0xF8: // wrmsrns, rdmsrlist, wrmsrlist, xsetbv, swapgs
		return Machine
	case 0xFA: // monitorx; with F3 mcommit
		if !in.Prefix.Has(PF3) {
			return Wait
		}
	case 0xC8, 0xC9, 0xFB: // monitor, mwait, mwaitx
		return Wait
	case 0xD5: // xend
		return Tx
	}
	if in.Group() == 6 { // lmsw
		return Machine
	}
	return 0
}
