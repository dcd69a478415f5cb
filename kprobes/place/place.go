// Package place describes the instruction at a probed place: what it is, and how it is
// executed after the handlers. It depends neither on probes nor on the machine.
package place

import (
	"errors"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/insn/emulate"
	"sonde/arch/amd64/prologue"
	"sonde/kallsyms"
	"sonde/kernel/refusal"
)

// A Place does not change, but for Slot, which is filled in before it is used.
type Place struct {
	Addr  uintptr
	In    insn.Inst
	Orig  [insn.MaxLen]byte // the code from there on
	Slot  uintptr           // the copy, followed by a jump back; 0 if there is none
	Check prologue.Check    // the stack check that begins here
	// The stack check that the place is within, but not its first instruction, and
	// how far; 0: not in one.
	Around prologue.Check
	Within uint8
	Op     emulate.Op // if it is emulated
	To     uint64     // target of a direct branch

	emulated bool // no copy is needed
	boost    bool // the copy may run without a step
	step     bool // the copy may be stepped
}

// Read makes p what is at addr, in function fn, whose instructions d finds.
//
// Errors: EILSEQ no instruction begins at addr, or it cannot be executed elsewhere.
func (p *Place) Read(d *Decoder, fn kallsyms.Symbol, addr uintptr) error {
	off := int(addr - uintptr(fn.Addr))
	in, code, err := d.At(fn, off)
	switch {
	case errors.Is(err, insn.ErrBoundary):
		return refusal.New(syscall.EILSEQ, "%s+%#x is inside an instruction", fn.Name, off)
	case err != nil:
		return refusal.New(syscall.EILSEQ, "%s does not decode to its end: %v", fn.Name, err)
	}
	p.Addr, p.In = addr, in
	copy(p.Orig[:], code[off:])
	if in.Flow == insn.Jmp {
		p.To = in.Target(uint64(addr))
	}
	if c := prologue.Find(code); off == 0 {
		p.Check = c
	} else if off < int(c.Len) {
		p.Around, p.Within = c, uint8(off)
	}
	return p.classify()
}

// classify finds out how the instruction can be executed.
//
// Errors: EILSEQ it cannot be executed elsewhere.
func (p *Place) classify() error {
	in := &p.In
	if p.Op, p.emulated = emulate.New(in, uint64(p.Addr)); p.emulated {
		return nil
	}
	if why := in.Movable(); why != insn.Fine {
		return refusal.New(syscall.EILSEQ, "the instruction cannot be executed elsewhere: %v", why)
	}
	p.boost, p.step = in.Boostable(), in.Steppable()
	if p.Bare(false) == Refused {
		return refusal.New(syscall.EILSEQ, "the instruction cannot be single-stepped")
	}
	return nil
}

// NeedsSlot reports whether the instruction is executed in a copy.
//
// Context: any.
func (p *Place) NeedsSlot() bool { return !p.emulated }

// CopyFor returns what a slot at that address holds: the copy and, after it, the
// way back of a boosted one. Not ok: what it needs is not within reach.
func (p *Place) CopyFor(slot uintptr) (code []byte, ok bool) {
	n := p.In.Len
	code = make([]byte, n, insn.MaxLen+insn.JumpSize)
	back, near := insn.Jump(uint64(slot)+uint64(n), uint64(p.Addr)+uint64(n))
	if !near || !p.In.CopyTo(code, p.Orig[:n], uint64(p.Addr), uint64(slot)) {
		return nil, false
	}
	return append(code, back[:]...), true
}
