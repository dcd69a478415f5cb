package insn

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// A slot is an opcode of a map behind a mandatory prefix, and the cells that try it: one bit of a
// table says whether it is defined.
type slot struct {
	enc   string
	op    byte
	pp    uint8
	cells []cell
}

func (s *slot) name() string { return fmt.Sprintf("%s %02x %d", s.enc, s.op, s.pp) }

// needRelease skips the test unless objdump is the release that the tables are compared with: each
// release knows other instructions. The instructions of the image are compared with any release.
func needRelease(t testing.TB) {
	t.Helper()
	out, _ := exec.Command("objdump", "--version").Output()
	if first, _, _ := strings.Cut(string(out), "\n"); !strings.HasSuffix(first, " 2.40") {
		t.Skipf("the tables are compared with objdump 2.40 (Debian 12); this host has %q", first)
	}
}

// slots returns all slots with objdump's claims about their cells. It runs objdump once.
func slots(t testing.TB) []*slot {
	t.Helper()
	needRelease(t)
	slotsOnce.Do(func() {
		byName := map[string]*slot{}
		for i := range variants() {
			v := &variants()[i]
			for op := range 256 {
				addCells(byName, v, byte(op))
			}
		}
		var all []cell
		for _, s := range slotList {
			all = append(all, s.cells...)
		}
		ask(t, all)
		for _, s := range slotList {
			n := copy(s.cells, all)
			all = all[n:]
		}
	})
	return slotList
}

var (
	slotsOnce sync.Once
	slotList  []*slot
)

func addCells(byName map[string]*slot, v *variant, op byte) {
	if handledBefore(v, op) {
		return
	}
	s := &slot{enc: v.enc, op: op, pp: v.pp}
	try := func(b []byte, rest ...byte) {
		c := newCell(len(b), append(b, rest...)...)
		c.enc = s.enc
		s.cells = append(s.cells, c)
	}
	if have := byName[s.name()]; have != nil {
		s = have
	} else {
		byName[s.name()] = s
		slotList = append(slotList, s)
	}
	b := append(append([]byte{}, v.head...), op)
	if v.enc == "0f" && op == 0x0F { // 3DNow!: the opcode proper is behind the operands
		for suffix := range 256 {
			try(b, 0xC1, byte(suffix))
		}
		return
	}
	for _, f := range forms(v, op) {
		try(b, f...)
	}
}

// judge returns the differences between Decode and objdump for s, at most limit of them.
func (s *slot) judge(limit int) (wrong []string) {
	ours, theirs := false, false
	for i := range s.cells {
		c := &s.cells[i]
		in, err := Decode(c.code[:])
		ours = ours || err == nil
		theirs = theirs || c.claim.n > 0 && !refusedOnPurpose(c)
		d := ""
		switch {
		case err == nil && c.claim.n > 0 && refusedOnPurpose(c):
			d = "decoded, though it is to be refused"
		case err == nil && c.claim.n > 0:
			d = diffInst(&in, c)
		case err == nil && !s.excused(c):
			d = fmt.Sprintf("decoded, length %d", in.Len)
		case err != nil && c.claim.n > 0 && !refusedOnPurpose(c):
			d = err.Error()
		}
		if d != "" {
			wrong = append(wrong, s.name()+": "+c.disagreement(d))
		}
		if len(wrong) == limit {
			return wrong
		}
	}
	want := theirs || newer[s.name()] != "" || oneForm[s.name()] != ""
	if len(wrong) == 0 && ours != want {
		wrong = append(wrong, fmt.Sprintf("%s: decoded in some form: %v, want %v", s.name(), ours, want))
	}
	return wrong
}

func (c *cell) disagreement(what string) string {
	return fmt.Sprintf("% x: objdump has %d bytes, %q; here %s", c.code[:max(c.claim.n, 8)], c.claim.n, c.claim.text, what)
}

// excused reports whether Decode may accept a cell that objdump calls bad: doc.go lists what is not
// checked.
func (s *slot) excused(c *cell) bool {
	switch {
	case s.name() == "0f 00 3":
		return c.modrm()>>3&7 == 6 // LKGS
	case newer[s.name()] != "" || oneForm[s.name()] != "":
		return true
	case s.enc == "1" && s.op >= 0xD8 && s.op <= 0xDF: // x87 sub-opcodes
		return true
	case s.enc == "0f" && s.op == 0xAE: // SDM: the processor ignores rm of LFENCE, MFENCE and SFENCE
		return s.pp == 0 && c.modrm() >= 0xE8
	case s.enc == "0f" && s.op&^1 == 0x1A: // MPX: there is no BND4
		return true
	case grouped(s.enc, s.op) && !s.extended():
		return false
	case grouped(s.enc, s.op): // VEX or EVEX, with another W or L, or vector index, it is one
		return s.valid(func(m byte) bool { return m>>3&7 == c.modrm()>>3&7 && (m >= 0xC0) == (c.modrm() >= 0xC0) })
	case s.extended():
		return true
	}
	// The operand must be memory, or must be a register.
	return !s.valid(func(m byte) bool { return (m >= 0xC0) == (c.modrm() >= 0xC0) })
}

func (s *slot) extended() bool {
	return strings.HasPrefix(s.enc, "vex") || strings.HasPrefix(s.enc, "evex")
}

// valid reports whether objdump accepts a cell of s whose ModRM f selects.
func (s *slot) valid(f func(modrm byte) bool) bool {
	for i := range s.cells {
		if s.cells[i].claim.n > 0 && f(s.cells[i].modrm()) {
			return true
		}
	}
	return false
}

// newer are opcodes that objdump 2.40 does not know, with their names.
var newer = map[string]string{
	"0f 00 3":   "LKGS",
	"vex2 6c 0": "TCMMRLFP16PS", "vex2 6c 1": "TCMMIMFP16PS",
	"vex2 cb 3": "VSHA512RNDS2", "vex2 cc 3": "VSHA512MSG1", "vex2 cd 3": "VSHA512MSG2",
	"vex2 d2 0": "VPDPWUUD", "vex2 d2 1": "VPDPWUSD", "vex2 d2 2": "VPDPWSUD",
	"vex2 d3 0": "VPDPWUUDS", "vex2 d3 1": "VPDPWUSDS", "vex2 d3 2": "VPDPWSUDS",
	"vex2 da 0": "VSM3MSG1", "vex2 da 1": "VSM3MSG2", "vex2 da 2": "VSM4KEY4", "vex2 da 3": "VSM4RNDS4",
	"vex3 de 1": "VSM3RNDS2",
}

// oneForm are opcodes for which only one ModRM is an instruction, with that ModRM.
var oneForm = map[string]string{
	"0f3a f0 2": "HRESET",
}

// diffInst returns the differences between a decoded instruction and objdump's claim.
func diffInst(in *Inst, c *cell) string {
	newer := c.claim.op == "clac" && in.Flow == Iret // ERETU and ERETS
	switch {
	case int(in.Len) != c.claim.n:
		return fmt.Sprintf("length %d", in.Len)
	case in.Flow != c.claim.flow && !newer:
		return fmt.Sprintf("flow %v, want %v", in.Flow, c.claim.flow)
	case in.Trait != c.claim.trait && !newer:
		return fmt.Sprintf("traits %#x, want %#x", in.Trait, c.claim.trait)
	case in.Flow.Direct() != (in.RelLen > 0):
		return fmt.Sprintf("flow %v with %d bytes of displacement", in.Flow, in.RelLen)
	}
	if d := diffImm(in, c.claim.args); d != "" {
		return d
	}
	if d := diffParts(in, c.code[:]); d != "" {
		return d
	}
	return diffOperand(in, c.claim.mem, c.claim.hasMem)
}

// diffImm compares the immediate of an opcode of the first two maps. Others are printed in several
// ways, for example as part of the mnemonic.
func diffImm(in *Inst, args string) string {
	switch {
	case in.Map > Map0F || in.Prefix.Has(PVEX|PEVEX):
		return ""
	case in.Map == Map1B && (in.Opcode&^1 == 0xD0 || in.Opcode == 0xC8): // shifts by one; ENTER has two
		return ""
	case in.Map == Map0F && (in.Opcode == 0x0F || in.Opcode == 0x78 || in.Opcode == 0xC2): // 3DNow!; EXTRQ has two; CMPPS
		return ""
	}
	_, imm, has := strings.Cut(args, "$")
	if has != (in.ImmLen > 0) {
		return fmt.Sprintf("%d bytes of immediate", in.ImmLen)
	}
	imm, _, _ = strings.Cut(imm, ",")
	if shift := 64 - 8*in.ImmLen; has && uint64(parseHex(imm))<<shift != in.Imm()<<shift {
		return fmt.Sprintf("immediate %#x", in.Imm())
	}
	return ""
}

// diffParts checks that the parts of in are adjacent, fill it, and have the right values.
func diffParts(in *Inst, code []byte) string {
	end := in.OpOff + 1
	if in.HasModRM {
		end++
	}
	if in.HasSIB {
		end++
	}
	for _, p := range []struct {
		name   string
		off, n uint8
		v      int64
	}{{"displacement", in.DispOff, in.DispLen, in.Disp()}, {"immediate", in.ImmOff, in.ImmLen, int64(in.Imm())}, {"branch displacement", in.RelOff, in.RelLen, in.Rel()}} {
		if p.n == 0 {
			continue
		}
		if shift := 64 - 8*p.n; p.off != end || uint64(p.v)<<shift != readLE(code, p.off, p.n)<<shift {
			return fmt.Sprintf("%s at %d, %#x", p.name, p.off, p.v)
		}
		end += p.n
	}
	if end != in.Len {
		return fmt.Sprintf("parts end at %d", end)
	}
	return ""
}

// refusedOnPurpose reports whether objdump 2.40 decodes c and Decode refuses it on purpose, as
// doc.go says or because the manual forbids it.
func refusedOnPurpose(c *cell) bool {
	op, args := c.claim.op, c.claim.args
	opcode := c.code[c.mod-1]
	at := c.at()
	branch := c.claim.flow.Direct() && (opcode>>1 == 0xE8>>1 || opcode>>4 == 8)
	switch {
	case branch && c.code[0] == 0x66 && c.code[1] != 0x48: // makers disagree
		return true
	case at == "0f 00" && strings.Contains(c.claim.text, "repnz "): // LKGS or nothing
		return true
	case strings.Contains(args, "%?") || op == "mov" && strings.HasSuffix(args, "%cs"): // no such segment register
		return true
	case at == "1 8f" && c.modrm()&31 >= 8: // XOP
		return true
	case strings.HasPrefix(op, "vzero") && c.code[2]&3 != 0: // VZEROUPPER has no prefix
		return true
	}
	for _, p := range []string{"xcrypt", "xstore", "montmul", "xsha", "tdcall", "seam", "pcommit"} { // PadLock, TDX; withdrawn
		if strings.HasPrefix(op, p) {
			return true
		}
	}
	prefixed := strings.IndexByte("\x66\xF2\xF3", c.code[0]) >= 0
	return prefixed && at == "0f ae" && np[strings.TrimSuffix(op, "64")]
}

// np are instructions of opcode 0F AE that the manual allows no prefix with (NP).
var np = map[string]bool{
	"fxsave": true, "fxrstor": true, "ldmxcsr": true, "stmxcsr": true, "clflush": true, "sfence": true, "xsave": true, "xrstor": true,
}

// TestObjdumpAgreesOnEveryOpcode compares, for each opcode of each map behind each mandatory
// prefix, whether it is an instruction, its length, its control flow and its memory operand.
func TestObjdumpAgreesOnEveryOpcode(t *testing.T) {
	cells, wrong := 0, 0
	for _, s := range slots(t) {
		cells += len(s.cells)
		for _, w := range s.judge(10) {
			if wrong++; wrong <= 20 {
				t.Error(w)
			}
		}
	}
	t.Logf("%d cells of %d opcodes, %d disagreements", cells, len(slotList), wrong)
}
