package kwatch

// Trap context, and goroutines. What the instruction that hit a watchpoint has accessed,
// which QEMU does not tell rightly: of the watchpoints that an instruction hits it tells of
// the first, and for an unaligned store it looks at all of the page below it.

import (
	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// The code around IP that is looked at: an instruction before it, and one that IP is at.
const (
	codeBefore = insn.MaxLen
	codeBehind = 4
)

// emulated says that this is QEMU's emulation.
var emulated bool

// around is the code around r's IP, from codeBefore bytes before it. The first skip bytes are
// not known.
type around struct {
	code [codeBefore + codeBehind]byte
	skip int
}

// besides returns which of the watchpoints rest are hit with p, whose value was old and is
// new, and whether p is hit at all.
func (p *point) besides(rest, old, new uint64, a *around, r *amd64.Regs) (which uint64, is bool) {
	to, n := a.movs(p, r)
	if is = old != new || !emulated; !is {
		var at uintptr
		if at, is = a.above(p, r); !is {
			to, n = at, 8
		}
	}
	for i := range points {
		q := points[i].Load()
		if rest>>i&1 != 0 && q != nil && (p.changed(q, old, new) || q.overlaps(to, n)) {
			which |= 1 << i
		}
	}
	return which, is
}

// movs returns where the MOVS that r is behind, or in, has stored, and how much: none if it is
// none, or has not loaded what p watches.
func (a *around) movs(p *point, r *amd64.Regs) (to, n uintptr) {
	in, err := insn.Decode(a.code[codeBefore:])
	if found := err == nil && isMovs(&in) && in.IsRep(); !found {
		for k := 1; k <= 4 && codeBefore-k >= a.skip; k++ { // the longest: a prefix belongs to it
			if i, err := insn.Decode(a.code[codeBefore-k : codeBefore]); err == nil && int(i.Len) == k && isMovs(&i) {
				in, found = i, true
			}
		}
		if !found {
			return 0, 0
		}
	}
	n = 4
	switch {
	case in.Opcode == 0xA4:
		n = 1
	case in.REX&insn.REXW != 0:
		n = 8
	case in.Prefix.Has(insn.P66):
		n = 2
	}
	back := n
	if r.Flags&amd64.RFLAGS_DF != 0 {
		back = -n
	}
	if !p.overlaps(uintptr(r.SI)-back, n) {
		return 0, 0
	}
	return uintptr(r.DI) - back, n
}

func isMovs(in *insn.Inst) bool { return in.Map == insn.Map1B && in.Opcode&^1 == 0xA4 }

// above reports whether the instruction that r is behind has accessed p: not if it is
// certain to be a store of the kind that QEMU is wrong about, unaligned, in p's page, and
// above what p watches, at at. Where it begins is not known, so all that end at IP are tried.
func (a *around) above(p *point, r *amd64.Regs) (at uintptr, is bool) {
	if p.overlaps(uintptr(r.SP)-64, 128) {
		return 0, true // CALL, PUSH and the like
	}
	var regs [16]uint64
	r.General(&regs)
	is = true
	for k := codeBefore - a.skip; k > 0; k-- {
		in, err := insn.Decode(a.code[codeBefore-k : codeBefore])
		switch {
		case err != nil || int(in.Len) != k:
			continue
		case in.Map == insn.Map1B && in.Opcode >= 0xA4 && in.Opcode <= 0xAF && in.Opcode&^1 != 0xA8: // MOVS and its kin
			if p.overlaps(uintptr(r.DI)-64, 128) || p.overlaps(uintptr(r.SI)-64, 128) {
				return 0, true
			}
			continue
		case !in.HasMem() && in.Opcode&^3 != 0xA0:
			continue
		}
		m, ok := in.MemOperand()
		if !ok || m.Seg != insn.SegNone || in.Flow != insn.Next || overwrites(&in, &m) {
			return 0, true
		}
		to := uintptr(m.Addr(&regs, r.IP))
		if to < p.addr+uintptr(p.length) {
			return 0, true
		}
		if to&7 != 0 && to>>12 == p.addr>>12 {
			at, is = to, false
		}
	}
	return at, is
}

// overwrites reports whether in may change the registers of its operand m.
func overwrites(in *insn.Inst, m *insn.Mem) bool {
	reg := in.Reg()
	if in.Map == insn.Map1B && (in.Opcode == 0x88 || in.Opcode == 0x89 || in.Opcode&0xFC == 0x80 || in.Opcode&^1 == 0xC6 ||
		in.Opcode < 0x40 && in.Opcode&7 < 2) { // stores, and groups without another result
		return false
	}
	for _, x := range [...]int8{m.Base, m.Index} {
		if x != insn.NoReg && (x == reg || x == insn.RAX || x == insn.RDX || x == insn.RSP) {
			return true
		}
	}
	return false
}
