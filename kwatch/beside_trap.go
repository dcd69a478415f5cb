package kwatch

// Trap context, and goroutines. Which other watchpoints an instruction has hit: QEMU tells
// of the first.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// The code around IP that is looked at: an instruction before it, and one that IP is at.
const (
	codeBefore = insn.MaxLen
	codeBehind = 4
)

// around is the code around r's IP, from codeBefore bytes before it. The first skip bytes are
// not known.
type around struct {
	code [codeBefore + codeBehind]byte
	skip int
}

// besides returns which of the watchpoints rest are hit with p, whose value was old and is
// new.
func (p *point) besides(rest, old, new uint64, a *around, r *amd64.Regs) (which uint64) {
	to, n := a.movs(p, r)
	for i := range points {
		q := points[i].Load()
		if rest>>i&1 != 0 && q != nil && (p.changed(q, old, new) || q.overlaps(to, n)) {
			which |= 1 << i
		}
	}
	return which
}

// movs returns where the MOVS that r is behind, or in, has stored, and how much: none if it is
// none, or has not loaded what p watches.
//
// A repeated one may have gone on since: QEMU 10 tells of it when it is through. Then it has
// stored all from where what p watches went to.
func (a *around) movs(p *point, r *amd64.Regs) (to, n uintptr) {
	n, rep := a.movsSize()
	back, down := n, r.Flags&amd64.RFLAGS_DF != 0
	if down {
		back = -n
	}
	switch since := uintptr(r.SI) - p.addr; {
	case n == 0:
		return 0, 0
	case p.overlaps(uintptr(r.SI)-back, n):
		return uintptr(r.DI) - back, n
	case rep && !down && since <= mostMoved:
		return uintptr(r.DI) - since, since
	}
	return 0, 0
}

// mostMoved is how much a repeated MOVS may have moved since a hit.
const mostMoved = 1 << 20

// movsSize returns how much the MOVS at IP, which must be repeated, or the one that ends there
// moves at a time; 0: there is none. It is read here, as package insn would then be on the
// way of hits, and could have no probes.
func (a *around) movsSize() (n uintptr, rep bool) {
	var m movs
	for _, b := range a.code[codeBefore:] {
		if !m.prefix(b) {
			if m.rep {
				return m.size(b), true
			}
			break
		}
	}
	m = movs{}
	for i := codeBefore - 2; i >= a.skip && m.prefix(a.code[i]); i-- {
	}
	return m.size(a.code[codeBefore-1]), m.rep
}

// movs is what the prefixes of a MOVS say.
type movs struct{ rep, wide, short bool }

// prefix reports whether b is one.
func (m *movs) prefix(b byte) bool {
	switch {
	case b == 0xF2 || b == 0xF3:
		m.rep = true
	case b == 0x66:
		m.short = true
	case b&0xF0 == 0x40:
		m.wide = m.wide || b&insn.REXW != 0
	default:
		return false
	}
	return true
}

func (m *movs) size(opcode byte) uintptr {
	switch {
	case opcode == 0xA4:
		return 1
	case opcode != 0xA5:
		return 0
	case m.wide:
		return 8
	case m.short:
		return 2
	}
	return 4
}
