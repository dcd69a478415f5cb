package place

import (
	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/prologue"
)

// Way is how a probed instruction is executed when the handlers in front of it have
// been called. Hits go by it, and explain prints it.
type Way uint8

// The ways.
const (
	Refused  Way = iota // not at all: such a probe is not registered
	Emulated            // on the saved registers
	Branched            // a direct jump: IP is set to its target
	Decided             // a stack check, on the saved registers, once for all its instructions
	Within              // inside a stack check: as that was decided; else as if it were not
	Boosted             // the copy in the slot runs, and jumps back
	Stepped             // the copy in the slot is single-stepped
	Detoured            // the copy in the detour runs, and jumps back
)

// Recorded is set beside a way that has no copy to continue in by itself, where a camera records hits.
const Recorded Way = 1 << 7

// String returns the word for w in lists; being recorded does not show.
func (w Way) String() string {
	return [...]string{"refused", "emulated", "branched", "decided", "within", "boosted", "stepped", "detoured"}[w&^Recorded]
}

// Bare returns how the instruction is executed by itself; post: when a post-handler
// must get control after it.
//
// Context: any.
func (p *Place) Bare(post bool) Way {
	switch {
	case p.emulated:
		return Emulated
	case p.boost && !post:
		return Boosted
	case p.step:
		return Stepped
	}
	return Refused
}

// Way returns how the instruction is executed when handlers have been called; post:
// one of them is a post-handler.
//
// Context: any.
func (p *Place) Way(post bool) Way {
	way := p.Bare(post)
	switch {
	case way == Refused:
	case p.Within > 0:
		return Within
	case way == Emulated:
		if p.In.Flow == insn.Jmp && !post {
			return Branched
		}
	case p.Check.Kind > prologue.Small || p.Check.Kind == prologue.Small && !post:
		return Decided
	}
	return way
}
