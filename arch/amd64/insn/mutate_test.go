package insn

import (
	"fmt"
	"strings"
	"testing"
)

// A mutant is a table with one wrong entry.
type mutant struct {
	enc  string // which opcodes it is about
	op   byte
	what string
	set  func() (undo func())
}

// letters are the letters of oneByte and twoByte.
const letters = ".MbBzZwveojJCtTs3x"

// set replaces the letter of opcode b, and returns a function that restores it.
func set(rows *[16]string, b byte, to byte) func() {
	old := rows[b>>4]
	row := []byte(old)
	row[b&15] = to
	rows[b>>4] = string(row)
	return func() { rows[b>>4] = old }
}

// shapeMutants are all wrong letters of m, except those with the same meaning. Entries that are not
// used, because of a prefix or the bitmap, have none.
func shapeMutants(enc string, m *opmap, looked func(op byte) bool) (list []mutant) {
	for b := range 256 {
		op, old := byte(b), m.at(byte(b))
		if !looked(op) {
			continue
		}
		for _, to := range []byte(letters) {
			same := to == 'x' && old == '-' ||
				to == 's' && enc == "0f" && op == 0xC3 // MOVNTI has no prefix; without one s is M
			if to == old || same {
				continue
			}
			list = append(list, mutant{enc, op, fmt.Sprintf("%c becomes %c", old, to), func() func() { return set((*[16]string)(m), op, to) }})
		}
	}
	return list
}

// bitMutants are all wrong bits of m, except those that twoByte refuses, too.
func bitMutants(enc string, m *bitmap) (list []mutant) {
	for b := range 256 {
		op := byte(b)
		if enc == "0f" && (twoByte.at(op) == '-' || twoByte.at(op) == 'x') {
			continue
		}
		digits := byte(0)
		for pp := range uint8(4) {
			if m.has(op, pp) {
				digits |= 1 << pp
			}
		}
		for pp := range 4 {
			to := ".123456789abcdef"[digits^1<<pp]
			list = append(list, mutant{enc, op, fmt.Sprintf("prefix %d is wrong", pp), func() func() { return set((*[16]string)(m), op, to) }})
		}
	}
	return list
}

// maskMutants are all wrong bits of a map of the register forms of 0F 01.
func maskMutants(mask *uint64) (list []mutant) {
	for bit := range 64 {
		list = append(list, mutant{"0f", 0x01, fmt.Sprintf("ModRM %02x", 0xC0+bit), func() func() {
			*mask ^= 1 << bit
			return func() { *mask ^= 1 << bit }
		}})
	}
	return list
}

func mutants() (list []mutant) {
	list = append(list, shapeMutants("1", &oneByte, func(op byte) bool {
		return prefixOf(op) == 0 && op != 0x0F && op != 0xC4 && op != 0xC5 && op != 0x62
	})...)
	list = append(list, shapeMutants("0f", &twoByte, func(op byte) bool {
		return op != 0x38 && op != 0x3A && (legacy0F.has(op, 0) || legacy0F.has(op, 1) || legacy0F.has(op, 2) || legacy0F.has(op, 3))
	})...)
	for enc, m := range map[string]*bitmap{
		"0f": &legacy0F, "0f38": &legacy38, "0f3a": &legacy3A, "vex1": &vex1, "vex2": &vex2, "vex3": &vex3,
		"evex1": &evex1, "evex2": &evex2, "evex3": &evex3, "evex5": &evex5, "evex6": &evex6,
	} {
		list = append(list, bitMutants(enc, m)...)
	}
	for _, m := range []*uint64{&systemPlain, &system66, &systemF3, &systemF2} {
		list = append(list, maskMutants(m)...)
	}
	return list
}

// TestNoMutantSurvives makes each entry of each table wrong in each way; the comparison with
// objdump, or a golden case, must notice.
func TestNoMutantSurvives(t *testing.T) {
	byOpcode := map[string][]*slot{}
	for _, s := range slots(t) {
		k := fmt.Sprintf("%s %02x", s.enc, s.op)
		byOpcode[k] = append(byOpcode[k], s)
	}
	tried, survivors := 0, 0
	for _, m := range mutants() {
		if testing.Short() && strings.Contains(m.enc, "vex") {
			continue // has no cells then
		}
		undo := m.set()
		killed := goldenFails(m.enc, m.op)
		for _, s := range byOpcode[fmt.Sprintf("%s %02x", m.enc, m.op)] {
			killed = killed || len(s.judge(1)) > 0
		}
		undo()
		if tried++; !killed {
			if survivors++; survivors <= 20 {
				t.Errorf("%s %02x: %s: nothing notices", m.enc, m.op, m.what)
			}
		}
	}
	t.Logf("%d mutants, %d survive", tried, survivors)
}

// goldenFails reports whether a golden case of the opcode fails now.
func goldenFails(enc string, op byte) bool {
	for _, c := range goldenOf[fmt.Sprintf("%s %02x", enc, op)] {
		if describe(c.code) != c.want {
			return true
		}
	}
	return false
}

type goldenCase struct {
	code []byte
	want string
}

// goldenOf are the golden cases of one-byte opcodes that cells cannot try.
var goldenOf = map[string][]goldenCase{
	"1 9b": {{[]byte{0x9B, 0xD9, 0x38}, "1 next"}},
}
