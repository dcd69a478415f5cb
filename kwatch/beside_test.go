package kwatch

import (
	"encoding/hex"
	"strings"
	"testing"

	"sonde/arch/amd64"
)

// codeAround is the code before and at IP, separated by a bar.
func codeAround(t *testing.T, s string) *around {
	t.Helper()
	before, at, _ := strings.Cut(strings.ReplaceAll(s, " ", ""), "|")
	b, err := hex.DecodeString(before)
	if err != nil {
		t.Fatal(err)
	}
	a := &around{skip: codeBefore - len(b)}
	copy(a.code[a.skip:], b)
	b, err = hex.DecodeString(at)
	if err != nil {
		t.Fatal(err)
	}
	copy(a.code[codeBefore:], b)
	return a
}

// TestWhatAnInstructionHitsBesides: of four watchpoints the first is told of.
func TestWhatAnInstructionHitsBesides(t *testing.T) {
	onFake(t)
	for _, p := range []struct {
		addr   uintptr
		length int
		typ    Type
	}{{0x1000, 8, ReadWrite}, {0x1000, 4, Write}, {0x1006, 2, Write}, {0x2000, 8, Write}} {
		if _, err := RegisterKwatch(p.addr, p.length, p.typ, nothing); err != nil {
			t.Fatal(err)
		}
	}
	p := points[0].Load()
	for _, c := range []struct {
		name     string
		code     string
		r        amd64.Regs
		old, new uint64
		want     uint64
		is       bool
	}{
		{"a write of the first bytes", "48 ff 07", amd64.Regs{DI: 0x1000}, 5, 6, 0b0010, true},
		{"of the last", "", amd64.Regs{}, 0, 1 << 63, 0b0100, true},
		{"of all", "", amd64.Regs{}, 0, 1<<63 | 1, 0b0110, true},
		{"of none that is watched beside", "", amd64.Regs{}, 0, 1 << 40, 0, true},
		{"a read", "48 8b 07", amd64.Regs{DI: 0x1000}, 5, 5, 0, true},
		{"movsq", "48 a5", amd64.Regs{SI: 0x1008, DI: 0x2008}, 5, 5, 0b1000, true},
		{"movsq, downwards", "48 a5", amd64.Regs{SI: 0xff8, DI: 0x1ff8, Flags: amd64.RFLAGS_DF}, 5, 5, 0b1000, true},
		{"movsb that is done", "f3 a4", amd64.Regs{SI: 0x1008, DI: 0x2008}, 5, 5, 0b1000, true},
		{"movsb beside", "f3 a4", amd64.Regs{SI: 0x1008, DI: 0x2009}, 5, 5, 0, true},
		{"rep movsl that goes on", "90 | f3 a5", amd64.Regs{SI: 0x1004, DI: 0x2004}, 5, 5, 0b1000, true},
		{"rep movsq that has gone on", "f3 48 a5", amd64.Regs{SI: 0x1040, DI: 0x2040}, 5, 5, 0b1000, true},
		{"rep movsq to above", "f3 48 a5", amd64.Regs{SI: 0x1040, DI: 0x2048}, 5, 5, 0, true},
		{"movsq long ago", "48 a5", amd64.Regs{SI: 0x1040, DI: 0x2040}, 5, 5, 0, true},
		{"rep movsq from elsewhere", "f3 48 a5", amd64.Regs{SI: 0xff8, DI: 0x2008}, 5, 5, 0, true},
		{"movsw from elsewhere", "66 a5", amd64.Regs{SI: 0x100a, DI: 0x2002}, 5, 5, 0, true},

		{"unaligned, above", "48 89 47 09", amd64.Regs{DI: 0x1000}, 5, 5, 0, false},
		{"unaligned, above, of 16 bytes", "0f 11 41 13", amd64.Regs{CX: 0x1000}, 5, 5, 0, false},
		{"unaligned, above, and another value", "48 89 47 09", amd64.Regs{DI: 0x1000}, 5, 6, 0b0010, true},
		{"in what is watched", "48 89 47 07", amd64.Regs{DI: 0x1000}, 5, 5, 0, true},
		{"aligned", "48 89 47 08", amd64.Regs{DI: 0x1000}, 5, 5, 0, true},
		{"in another page", "48 89 47 09", amd64.Regs{DI: 0x2000}, 5, 5, 0, true},
		{"the address is gone", "48 8b 7f 09", amd64.Regs{DI: 0x1000}, 5, 5, 0, true},
		{"of FS", "64 48 89 47 09", amd64.Regs{DI: 0x1000}, 5, 5, 0, true},
		{"a push", "48 89 47 09", amd64.Regs{DI: 0x1000, SP: 0x1000}, 5, 5, 0, true},
		{"stos", "48 89 47 ab", amd64.Regs{DI: 0x1008}, 5, 5, 0, true},
	} {
		a := codeAround(t, c.code)
		which := p.besides(0b1110, c.old, c.new, a, &c.r)
		if _, above := a.above(p, &c.r); which != c.want || c.old == c.new && above == c.is {
			t.Errorf("%s: %04b, above: %v; want %04b, %v", c.name, which, above, c.want, !c.is)
		}
	}
}
