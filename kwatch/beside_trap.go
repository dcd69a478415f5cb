package kwatch

// Trap context, and goroutines. Finds the other watchpoints that an instruction has hit:
// QEMU reports only the first.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// The code around IP that is read: the instruction before IP, and the one at IP.
const (
	codeBefore = insn.MaxLen
	codeBehind = 4
)

// around is the code around r's IP, from codeBefore bytes before it. The first skip bytes
// could not be read.
type around struct {
	code [codeBefore + codeBehind]byte
	skip int
}

// besides returns which of the watchpoints rest are hit together with p, whose value has
// changed from old to new.
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

// movs returns the address and length of what the MOVS before or at r.IP has stored; n is 0
// if there is no MOVS, or it has not loaded what p watches.
//
// A repeated MOVS may have continued since the hit: QEMU 10 reports it at the end. Then it
// has stored everything from the copy of what p watches on.
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

// mostMoved is how many bytes a repeated MOVS may have moved since a hit.
const mostMoved = 1 << 20

// movsSize returns the unit in bytes of the MOVS at IP (which must be repeated) or of the
// one that ends there; 0: there is none. It decodes by itself: if hits used package insn,
// that could not be probed.
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

// prefix reports whether b is a prefix of a MOVS, and notes it.
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
