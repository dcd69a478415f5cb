package place

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// For emulations in trap context: what Do does, in steps as those of package emulate.

// Simple reports whether Loads, Pushes and Finish are all that Emulate needs, and change no registers
// but IP, SP, CX and the flags.
//
// Context: any.
func (p *Plan) Simple() bool { return p.op.Seg() == insn.SegNone && !p.In.IsPopf() }

// Returns reports whether it is a near return.
//
// Context: any.
func (p *Plan) Returns() bool { return p.In.Flow == insn.Ret }

// Loads returns the address of the 8 bytes that the emulation loads, if it does.
//
// Context: any, including trap context.
func (p *Plan) Loads(r *amd64.Regs) (addr uint64, ok bool) { return p.op.Loads(r, 0) }

// Pushes returns what the emulation stores at SP-8, if it does.
//
// Context: any, including trap context.
func (p *Plan) Pushes(r *amd64.Regs) (v uint64, ok bool) { return p.op.Pushes(r) }

// Finish changes r as the instruction does, which has loaded v.
//
// Context: any, including trap context.
func (p *Plan) Finish(r *amd64.Regs, v uint64) { p.op.Finish(r, v) }
