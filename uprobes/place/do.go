package place

import (
	"fmt"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// CPU is what an emulation works on: a thread's registers and memory.
type CPU interface {
	Regs() *amd64.Regs
	// Bases are those of FS and GS.
	Bases() (fs, gs *uint64)
	// Load and Store are of 8 bytes, which need not be aligned.
	Load(addr uint64) (uint64, error)
	Store(addr, v uint64) error
	// Writable returns what Store would, and stores nothing.
	Writable(addr uint64) error
}

// Maker says what a processor does where processors differ: a branch, a call or a
// return leads to an address that is not canonical.
type Maker uint8

const (
	Intel    Maker = iota // a call has pushed, then #GP at the branch
	AMD                   // #GP at the branch, before anything is written; a push that would fault comes first
	Emulator              // QEMU's: the branch is done, and #GP is where it leads
)

// Processor is what this processor does. It is set before there are programs.
//
// Source: processors of both makers, asked; no manual has the order.
var Processor Maker

// MakerOf returns the Maker for the vendor that CPUID names.
func MakerOf(vendor string) Maker {
	if vendor == "AuthenticAMD" || vendor == "HygonGenuine" {
		return AMD
	}
	return Intel
}

// Fault is the exception that an instruction causes.
type Fault struct {
	Vector int
	Err    uint64 // the error code
	Addr   uint64 // what was accessed
	Cause  error  // what Load or Store said, if it was asked
}

func (f *Fault) Error() string { return fmt.Sprintf("exception %d at %#x", f.Vector, f.Addr) }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Do carries out Nothing and Emulate. After an error no register has changed.
//
// Errors: a *Fault: the exception that the instruction would have caused.
func (p *Plan) Do(c CPU) error {
	r := c.Regs()
	if p.Way == Nothing {
		r.IP = p.Next()
		return nil
	}
	var loaded uint64
	if addr, ok := p.loads(c); ok {
		var err error
		if loaded, err = p.load(c, addr); err != nil {
			return err
		}
	}
	after := *r
	p.finish(&after, loaded)
	nowhere := !canonical(after.IP)
	if v, ok := p.op.Pushes(r); ok {
		if err := push(c, r.SP-8, v, nowhere && Processor == AMD); err != nil {
			return err
		}
	}
	if nowhere && Processor != Emulator {
		return wild(after.IP, false)
	}
	*r = after
	return nil
}

func (p *Plan) loads(c CPU) (addr uint64, ok bool) {
	var base uint64
	switch fs, gs := c.Bases(); p.op.Seg() {
	case insn.SegFS:
		base = *fs
	case insn.SegGS:
		base = *gs
	}
	return p.op.Loads(c.Regs(), base)
}

func (p *Plan) finish(r *amd64.Regs, loaded uint64) {
	p.op.Finish(r, loaded)
	if p.In.IsPopf() { // the Op leaves TF alone
		r.Flags = r.Flags&^insn.FlagTF | loaded&insn.FlagTF
	}
}

func (p *Plan) load(c CPU, addr uint64) (uint64, error) {
	if !canonical(addr) || !canonical(addr+7) {
		onStack := p.In.Flow == insn.Ret || p.In.IsPopf() || p.In.HasMem() && p.byStack()
		return 0, wild(addr, onStack)
	}
	v, err := c.Load(addr)
	if err != nil {
		return 0, &Fault{amd64.VEC_PF, amd64.PF_U, addr, err}
	}
	return v, nil
}

// byStack reports whether the operand is in the stack segment by default: its base is
// RSP or RBP.
func (p *Plan) byStack() bool {
	m, ok := p.In.MemOperand()
	return ok && m.Seg == insn.SegNone && (m.Base == insn.RSP || m.Base == insn.RBP)
}

// push stores v at addr; with only, it just looks whether that could be done.
func push(c CPU, addr, v uint64, only bool) error {
	if !canonical(addr) || !canonical(addr+7) {
		return wild(addr, true)
	}
	var err error
	if only {
		err = c.Writable(addr)
	} else {
		err = c.Store(addr, v)
	}
	if err != nil {
		return &Fault{amd64.VEC_PF, amd64.PF_U | amd64.PF_W, addr, err}
	}
	return nil
}

// wild is the exception for an address that there can be no memory at.
func wild(addr uint64, stack bool) error {
	if stack {
		return &Fault{Vector: amd64.VEC_SS, Addr: addr}
	}
	return &Fault{Vector: amd64.VEC_GP, Addr: addr}
}

// canonical reports whether the byte at addr can be memory.
func canonical(addr uint64) bool { return int64(addr)<<16>>16 == int64(addr) }

// Call makes r what SYSCALL leaves to the kernel: the plan's Way is Syscall.
//
// Context: any.
// Source: Intel SDM vol. 2, "SYSCALL".
func (p *Plan) Call(r *amd64.Regs) {
	r.IP = p.Next()
	r.CX, r.R11 = r.IP, r.Flags
}
