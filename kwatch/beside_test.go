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

// TestLockedElsewhere: what is watched is at 0x1000, 4 bytes.
func TestLockedElsewhere(t *testing.T) {
	onFake(t)
	if _, err := RegisterKwatch(0x1000, 4, Write, nothing); err != nil {
		t.Fatal(err)
	}
	p := points[0].Load()
	for _, c := range []struct {
		name, code string
		r          amd64.Regs
		want       bool
	}{
		{"of another word", "8b c1 f0 0f b1 11", amd64.Regs{CX: 0x1080}, true},
		{"of what is watched", "8b c1 f0 0f b1 11", amd64.Regs{CX: 0x1000}, false},
		{"of 8 bytes that reach into it", "f0 48 0f b1 11", amd64.Regs{CX: 0xffc}, false},
		{"by R9", "f0 45 0f b1 11", amd64.Regs{CX: 0x1000, R9: 0x1080}, true},
		{"with a displacement of a byte", "f0 0f b1 53 f0", amd64.Regs{BX: 0x1010}, false},
		{"and elsewhere", "f0 0f b1 53 10", amd64.Regs{BX: 0x1000}, true},
		{"with a displacement of four bytes", "f0 48 0f b1 93 00 10 00 00", amd64.Regs{BX: 0}, false},
		{"and elsewhere", "f0 48 0f b1 93 00 20 00 00", amd64.Regs{BX: 0}, true},
		{"relative to IP", "f0 0f b1 15 00 f0 ff ff", amd64.Regs{IP: 0x2000}, false},
		{"and elsewhere", "f0 0f b1 15 00 f1 ff ff", amd64.Regs{IP: 0x2000}, true},
		{"by AX, which it changes", "f0 0f b1 10", amd64.Regs{AX: 0x1080}, false},
		{"with an index", "f0 0f b1 14 19", amd64.Regs{CX: 0x1080}, false},
		{"of a register", "f0 0f b1 d1", amd64.Regs{CX: 0x1080}, false},
		{"without LOCK", "0f b1 11", amd64.Regs{CX: 0x1080}, false},
		{"another instruction behind it", "f0 0f b1 11 90", amd64.Regs{CX: 0x1080}, false},
		{"a store", "48 89 47 08", amd64.Regs{DI: 0x1000}, false},
	} {
		if got := codeAround(t, c.code).lockedElsewhere(p, &c.r); got != c.want {
			t.Errorf("%s (%s): %v, want %v", c.name, c.code, got, c.want)
		}
	}
}
