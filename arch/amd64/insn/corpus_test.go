package insn

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A cell is the beginning of an instruction, filled up so that a disassembler
// that reads it wrong, or cannot read it, is in step again at the next one: with
// prefixes, all different, of which displacements and immediates are made, too,
// and a NOP.
type cell struct {
	code  [cellLen]byte
	enc   string // the table its opcode is in
	mod   int    // where ModRM is
	claim claim
}

const cellLen = 20

const filler = "\x36\x3e\x26\x65\x66\x67\xf2\x64\x2e\xf3\x3e\x26\x36\x65\x66\x67\x64\xf2\xf3\x90"

// claim is what objdump says about a cell.
type claim struct {
	n    int    // length; 0: not an instruction
	text string // as printed, with the comment

	op, args string // without prefixes and comment
	flow     Flow
	trait    Trait
	mem      operand
	hasMem   bool
}

// read parses what objdump prints.
func (c *claim) read(text string, n int) {
	c.text = strings.TrimSpace(text)
	if strings.Contains(c.text, "(bad)") {
		return
	}
	c.n = n
	text, _, _ = strings.Cut(c.text, "#")
	c.op, c.args = mnemonic(text)
	c.flow = flowOf(c.op, c.args)
	c.mem, c.hasMem = parseOperand(c.args)
}

// newCell makes the cell of an instruction that begins with b.
func newCell(mod int, b ...byte) cell {
	c := cell{mod: mod}
	n := copy(c.code[:], b)
	copy(c.code[n:], filler[len(filler)-cellLen+n:])
	return c
}

// ask has objdump disassemble cells and fills in their claims.
func ask(t testing.TB, cells []cell) {
	t.Helper()
	tool, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump (binutils) is not installed: nothing to compare with")
	}
	all := make([]byte, 0, len(cells)*cellLen)
	for i := range cells {
		all = append(all, cells[i].code[:]...)
	}
	file := filepath.Join(t.TempDir(), "cells")
	if err := os.WriteFile(file, all, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "-D", "-w", "-z", "--insn-width=16", "-b", "binary", "-m", "i386:x86-64", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		part := strings.SplitN(lines.Text(), "\t", 3)
		addr, err := strconv.ParseUint(strings.TrimRight(strings.TrimSpace(part[0]), ":"), 16, 64)
		if err != nil || len(part) < 3 || addr%cellLen != 0 {
			continue
		}
		c := &cells[addr/cellLen].claim
		said++
		c.read(part[2], len(strings.Fields(part[1])))
		c.trait = traitsOf(c.text, c.op, c.args)
		if at := cells[addr/cellLen].at(); at == "0f 0e" || at == "0f 0f" { // 3DNow! has two dozen names
			c.trait |= Retired
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("objdump: %v", err)
	}
	if said != len(cells) {
		t.Fatalf("objdump spoke of %d cells of %d: it lost its step", said, len(cells))
	}
}

// A variant is the bytes in front of an opcode.
type variant struct {
	head []byte
	enc  string // of the table: "1", "0f", "0f38", "0f3a", "vex1" .. "evex6"
	pp   uint8  // mandatory prefix: none, 66, F3, F2
}

// variants are all ways to reach an opcode that a table or a group tells apart,
// and within each those that may make it an instruction: W and L of VEX and
// EVEX, a mask.
var variants = sync.OnceValue(func() (list []variant) {
	add := func(enc string, pp uint8, head ...byte) { list = append(list, variant{head, enc, pp}) }
	for pp, p := range [][]byte{{}, {0x66}, {0xF3}, {0xF2}} {
		for _, w := range [][]byte{{}, {0x48}} {
			head := append(append([]byte{}, p...), w...)
			for enc, esc := range map[string][]byte{"1": {}, "0f": {0x0F}, "0f38": {0x0F, 0x38}, "0f3a": {0x0F, 0x3A}} {
				add(enc, uint8(pp), append(append([]byte{}, head...), esc...)...)
			}
		}
	}
	add("1", 0, 0x67)
	add("0f", 2, 0x66, 0xF3, 0x0F)
	add("0f", 3, 0x66, 0xF2, 0x0F)
	add("0f38", 3, 0x66, 0xF2, 0x0F, 0x38)
	if testing.Short() {
		return list
	}
	for i := range byte(3 * 2 * 2 * 4) {
		m, w, l, pp := i/16+1, i/8&1, i/4&1, i&3
		add(fmt.Sprint("vex", m), pp, 0xC4, 0xE0|m, w<<7|0x78|l<<2|pp)
	}
	for _, m := range []byte{1, 2, 3, 5, 6} {
		for i := range byte(4 * 2 * 4) {
			l, w, pp := i/8, i/4&1, i&3
			last := l<<5 | 8
			if l == 3 { // 512 bits with a mask
				last = 2<<5 | 8 | 1
			}
			add(fmt.Sprint("evex", m), pp, 0x62, 0xF0|m, w<<7|0x7C|pp, last)
		}
	}
	return list
})

// handledBefore reports bytes that are not opcodes behind head.
func handledBefore(v *variant, op byte) bool {
	switch v.enc {
	case "1":
		return prefixOf(op) != 0 || op == 0x0F || op == 0x62 || op == 0xC4 || op == 0xC5 ||
			op == 0x9B // objdump takes fwait and the next instruction for one
	case "0f":
		return op == 0x38 || op == 0x3A
	}
	return false
}

// forms are the ModRM and SIB bytes to try with an opcode: memory and register, with every reg. All
// of them, if groups uses more than reg.
func forms(v *variant, op byte) (list [][]byte) {
	if wholeModRM[v.enc+fmt.Sprintf(" %02x", op)] {
		for b := range 256 {
			list = append(list, []byte{byte(b), 0x48})
		}
		return list
	}
	regs := []byte{0, 1, 2, 3, 4, 5, 6, 7}
	if strings.Contains(v.enc, "vex") && !grouped(v.enc, op) {
		regs = []byte{0, 2} // some want three different registers: this, vvvv = 0 and rm or index = 1
	}
	list = append(list, []byte{0xC1, 0x9E}) // PFADD, if this were 3DNow!
	for _, reg := range regs {
		rms := []byte{0x01, 0x04, 0xC0, 0xC1}
		if testing.Short() {
			rms = []byte{0x01, 0xC1}
		}
		for _, rm := range rms {
			list = append(list, []byte{rm | reg<<3, 0x48})
		}
	}
	return list
}

var wholeModRM = map[string]bool{"1 c6": true, "1 c7": true, "0f 00": true, "0f 01": true, "0f ae": true, "0f c7": true}

// grouped reports whether ModRM.reg is part of the opcode according to groups.
func grouped(enc string, op byte) bool {
	list := map[string]string{
		"1":     "\x8c\x8d\x8e\x8f\xc6\xc7\xf6\xf7\xfe\xff",
		"0f":    "\x00\x01\x50\x71\x72\x73\xae\xba\xc5\xc7\xd7\xf7",
		"0f38":  "\xd8",
		"vex1":  "\x71\x72\x73\xae",
		"vex2":  "\xf3",
		"evex1": "\x71\x72\x73",
		"evex2": "\xc6\xc7",
	}[enc]
	return strings.IndexByte(list, op) >= 0
}

// at returns the table and the opcode of c.
func (c *cell) at() string { return fmt.Sprintf("%s %02x", c.enc, c.code[c.mod-1]) }

// modrm returns the byte behind the opcode of c.
func (c *cell) modrm() byte { return c.code[c.mod] }
