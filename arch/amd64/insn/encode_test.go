package insn

import (
	"bytes"
	"testing"
)

func TestJumpLeadsThere(t *testing.T) {
	const high = 1 << 40
	for _, c := range []struct {
		to uint64
		ok bool
	}{
		{high, true}, {high + 5, true},
		{high + 5 + 1<<31 - 1, true}, {high + 5 + 1<<31, false},
		{high + 5 - 1<<31, true}, {high + 4 - 1<<31, false},
		{0, false}, {^uint64(0), false},
	} {
		b, ok := Jump(high, c.to)
		in, err := Decode(b[:])
		if err != nil || in.Flow != Jmp || in.Len != JumpSize || b[0] != OpJmp {
			t.Fatalf("% x: %v, %v", b, in.Flow, err)
		}
		if ok != c.ok || ok && in.Target(high) != c.to {
			t.Errorf("to %#x: % x, %v", c.to, b, ok)
		}
	}
}

func TestCopyToKeepsTheOperand(t *testing.T) {
	const from = 0x400000
	for _, c := range []struct {
		name, code string
		to         uint64
		want       string // "" if out of reach
	}{
		{"not RIP-relative", "48 8b 84 24 00 01 00 00", 1 << 40, "48 8b 84 24 00 01 00 00"},
		{"up", "48 8b 05 00 10 00 00", from + 0x100, "48 8b 05 00 0f 00 00"},
		{"down", "48 8b 05 00 10 00 00", from - 0x100, "48 8b 05 00 11 00 00"},
		{"displacement before an immediate", "c7 05 00 10 00 00 78 56 34 12", from + 1, "c7 05 ff 0f 00 00 78 56 34 12"},
		{"VEX", "c5 fa 6f 05 00 10 00 00", from + 0x10, "c5 fa 6f 05 f0 0f 00 00"},
		{"the last that reaches", "8b 05 ff ff ff 7f", from, "8b 05 ff ff ff 7f"},
		{"one byte too far below", "8b 05 ff ff ff 7f", from - 1, ""},
		{"one byte too far above", "8b 05 00 00 00 80", from + 1, ""},
		{"half a memory away", "8b 05 00 00 00 00", 1 << 63, ""},
	} {
		code := unhex(t, c.code)
		in, err := Decode(code)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		dst := bytes.Repeat([]byte{0xAA}, MaxLen)
		ok := in.CopyTo(dst, code, from, c.to)
		if want := unhex(t, c.want); ok != (len(want) > 0) || !bytes.HasPrefix(dst, want) {
			t.Errorf("%s: % x, %v", c.name, dst[:len(code)], ok)
		}
		rest := dst[len(code):]
		if !ok {
			rest = dst
		}
		if bytes.Count(rest, []byte{0xAA}) != len(rest) {
			t.Errorf("%s: written beyond, or although refused: % x", c.name, dst)
		}
		if got, _ := Decode(dst); ok && in.RIPRel && c.to+uint64(got.Len)+uint64(got.Disp()) != from+uint64(in.Len)+uint64(in.Disp()) {
			t.Errorf("%s: another operand", c.name)
		}
	}
}

func TestOpcodesAreWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want string
	}{
		{"INT3", []byte{OpInt3}, "1 int3"},
		{"JMP", []byte{OpJmp, 0, 0, 0, 0}, "5 jmp rel@1+4"},
		{"JMP rel8", []byte{OpJmp8, 0}, "2 jmp rel@1+1"},
		{"JO", []byte{0x0F, OpJcc, 0, 0, 0, 0}, "6 jcc rel@2+4"},
		{"PUSH", []byte{OpPush, 0, 0, 0, 0}, "5 next imm@1+4"},
		{"PUSH imm8", []byte{OpPush8, 0}, "2 next imm@1+1"},
	} {
		in, err := Decode(c.code)
		if got := describe(c.code); err != nil || got != c.want || in.Flow == Jcc && in.Cond() != 0 || c.name[0] == 'P' && in.Trait != Push {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
