package insn

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// operand is a memory operand as objdump prints one in AT&T syntax:
//
//	%fs:-0x8(%rax,%rcx,8)    0x10(%rip)    (%r12d)    %gs:0x78
type operand struct {
	seg, base, index string // "" if none
	scale            int
	disp             int64
}

var (
	withBase = regexp.MustCompile(`(?:%([c-g]s):)?(-?0x[0-9a-f]+)?\((?:%(\w+))?(?:,%(\w+)(?:,([1248]))?)?\)`)
	absolute = regexp.MustCompile(`(?:^|[ ,*])(?:%([c-g]s):)?(0x[0-9a-f]+)(?:$|,)`)
)

// parseOperand returns the memory operand in an instruction's arguments.
func parseOperand(args string) (o operand, ok bool) {
	var disp string
	if m := withBase.FindStringSubmatch(args); m != nil {
		o = operand{seg: m[1], base: m[3], index: m[4]}
		disp = m[2]
		if o.index != "" {
			o.scale, _ = strconv.Atoi(m[5])
		}
	} else if m := absolute.FindStringSubmatch(args); m != nil {
		o, disp = operand{seg: m[1]}, m[2]
	} else {
		return o, false
	}
	if o.index == "riz" || o.index == "eiz" { // how objdump says that there is a SIB but no index
		o.index, o.scale = "", 0
	}
	o.disp = parseHex(disp)
	return o, true
}

// parseHex reads -0x8, 0xffffffffffffffff; "" is 0.
func parseHex(s string) int64 {
	s, minus := strings.CutPrefix(s, "-")
	v, _ := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if minus {
		return -int64(v)
	}
	return int64(v)
}

// regName is the name of general register n in an address.
func regName(n int8, addr32 bool) string {
	names := [...]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}
	switch {
	case n == NoReg:
		return ""
	case n < 8 && addr32:
		return "e" + names[n]
	case n < 8:
		return "r" + names[n]
	case addr32:
		return fmt.Sprintf("r%dd", n)
	}
	return fmt.Sprintf("r%d", n)
}

// asOperand writes m as objdump would.
func (m *Mem) asOperand() operand {
	o := operand{base: regName(m.Base, m.Addr32), index: regName(m.Index, m.Addr32), scale: int(m.Scale), disp: m.Disp}
	switch {
	case m.RIPRel && m.Addr32:
		o.base = "eip"
	case m.RIPRel:
		o.base = "rip"
	}
	switch m.Seg {
	case SegFS:
		o.seg = "fs"
	case SegGS:
		o.seg = "gs"
	}
	return o
}

// implicit reports whether objdump prints memory operands that are not in ModRM: string
// instructions, XLAT, and IN and OUT, whose port looks like one.
func implicit(in *Inst) bool {
	return in.Map == Map1B && (in.Opcode&^3 == 0x6C || in.Opcode&^11 == 0xA4 || in.Opcode&^1 == 0xAA || in.Opcode == 0xD7 || in.Opcode&^11 == 0xE4)
}

// diffOperand returns the differences between the memory operand of in and the one that objdump
// prints.
func diffOperand(in *Inst, want operand, has bool) string {
	if in.Flow.Direct() || implicit(in) {
		return ""
	}
	moffs := in.Map == Map1B && in.Opcode&^3 == 0xA0
	if got := in.HasMem() || moffs; got != has {
		return fmt.Sprintf("has a memory operand: %v", got)
	}
	m, ok := in.MemOperand()
	switch {
	case !has && ok:
		return "MemOperand of none"
	case !has:
		return ""
	case !ok && !in.Prefix.Has(PEVEX) && !in.vectorIndex() && !in.twoSegments():
		return "no MemOperand"
	case ok && (in.Prefix.Has(PEVEX) || in.twoSegments()):
		return "MemOperand not refused"
	case moffs && !ok:
		return ""
	case !ok: // look at it all the same, as if it were a plain one
		plain := *in
		plain.Prefix, plain.Map, plain.Opcode = in.Prefix&P67, Map0F, 0x10
		m, _ = plain.MemOperand()
		want.seg = ""
	}
	got := m.asOperand()
	return got.diff(&want, in)
}

// twoSegments reports FS or GS together with another segment prefix.
func (i *Inst) twoSegments() bool {
	p := i.Prefix & (PSeg | PFS | PGS)
	return p&(p-1) != 0
}

// diff returns the differences between got and want, which is objdump's.
func (got *operand) diff(want *operand, in *Inst) string {
	w := *want
	if w.seg != "fs" && w.seg != "gs" {
		w.seg = "" // no effect
	}
	if n := strings.TrimLeft(w.index, "xyzm"); n != w.index { // a vector register as index
		num, _ := strconv.Atoi(n)
		w.index = regName(int8(num&15), in.Prefix.Has(P67))
		if num == int(RSP) {
			w.index = got.index // as an index, 4 is a register there
			w.scale = got.scale
		}
	}
	if in.Prefix.Has(PEVEX) && in.DispLen == 1 { // in units of what is accessed
		for n := int64(1); n <= 64 && w.disp != got.disp; n *= 2 {
			if got.disp*n == w.disp {
				w.disp = got.disp
			}
		}
	}
	if in.Prefix.Has(P67) && uint32(w.disp) == uint32(got.disp) {
		w.disp = got.disp
	}
	if *got != w {
		return fmt.Sprintf("operand %+v, want %+v", *got, w)
	}
	return ""
}
