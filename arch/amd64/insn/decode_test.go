package insn

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// unhex turns "48 89 c3" into bytes.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

// describe formats the result of Decode as one line for golden tables: length and flow, then rip,
// disp, imm and rel if present, as @offset+length.
func describe(code []byte) string {
	in, err := Decode(code)
	switch err {
	case nil:
	case ErrTruncated:
		return "truncated"
	case ErrTooLong:
		return "too long"
	case ErrInvalid:
		return "invalid"
	case ErrRefused:
		return "refused"
	default:
		return err.Error()
	}
	s := fmt.Sprintf("%d %v", in.Len, in.Flow)
	if in.RIPRel {
		s += " rip"
	}
	for _, f := range []struct {
		name   string
		off, n uint8
	}{{"disp", in.DispOff, in.DispLen}, {"imm", in.ImmOff, in.ImmLen}, {"rel", in.RelOff, in.RelLen}} {
		if f.n > 0 {
			s += fmt.Sprintf(" %s@%d+%d", f.name, f.off, f.n)
		}
	}
	return s
}

func TestDecodeGolden(t *testing.T) {
	for _, c := range golden {
		code := unhex(t, c.code)
		if got := describe(code); got != c.want {
			t.Errorf("%s (%s): got %q, want %q", c.name, c.code, got, c.want)
		}
		// The bytes that follow must not matter.
		if got := describe(append(code, 0xC3, 0x0F, 0x48, 0x66)); c.want != "truncated" && got != c.want {
			t.Errorf("%s (%s) and more: got %q, want %q", c.name, c.code, got, c.want)
		}
		checkTruncation(t, code)
	}
}

// checkTruncation checks that every proper beginning of an instruction is ErrTruncated.
func checkTruncation(t testing.TB, code []byte) {
	t.Helper()
	in, err := Decode(code)
	if err != nil {
		return
	}
	for n := range int(in.Len) {
		if _, err := Decode(code[:n]); err != ErrTruncated {
			t.Errorf("% x cut to %d bytes: got %v, want ErrTruncated", code[:in.Len], n, err)
		}
	}
}

func TestDecodeInvalidOpcodesOf64BitMode(t *testing.T) {
	for _, op := range unhex(t, "06 07 0e 16 17 1e 1f 27 2f 37 3f 60 61 82 9a ce d4 d6 ea") {
		code := append([]byte{op}, make([]byte, 20)...)
		if got := describe(code); got != "invalid" {
			t.Errorf("%02x: got %q, want invalid", op, got)
		}
	}
}

// TestDecodeNothingBeforeVEX: these prefixes raise #UD there.
func TestDecodeNothingBeforeVEX(t *testing.T) {
	for _, code := range []string{"c5 f8 77", "c4 e1 7c 77", "62 f1 fe 48 6f 07"} {
		for _, p := range []string{"66", "f2", "f3", "f0", "40", "48", "48 2e"} {
			if got := describe(unhex(t, p+code)); got != "invalid" {
				t.Errorf("%s %s: got %q, want invalid", p, code, got)
			}
		}
		if got := describe(unhex(t, "2e 67 64"+code)); got == "invalid" {
			t.Errorf("%s behind segment and address size is invalid", code)
		}
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	code := unhex(t, "48 8b 05 00 00 00 00 0f 84 00 00 00 00 c5 f8 77 62 f1 7c 48 10 07 e8 00 00 00 00 ff 24 cd 00 00 00 00 c3")
	bad := unhex(t, "66 e8 00 00")
	count := 0
	n := testing.AllocsPerRun(100, func() {
		if off, err := Walk(code, func(off int, in Inst) bool {
			m, _ := in.MemOperand()
			count += int(in.Target(0)) + int(m.Disp) + len(in.Movable().String())
			return true
		}); err != nil {
			t.Fatalf("at %d: %v", off, err)
		}
		if _, err := Decode(bad); err != ErrRefused {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	code := unhex(b, "48 8b 84 24 00 01 00 00")
	for b.Loop() {
		if _, err := Decode(code); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range golden {
		f.Add(unhex(f, c.code))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		in, err := Decode(code)
		again, err2 := Decode(code)
		if in != again || err != err2 {
			t.Fatalf("% x: decoded differently the second time", code)
		}
		if err != nil {
			if in != (Inst{}) {
				t.Fatalf("% x: error and an instruction", code)
			}
			return
		}
		if in.Len < 1 || in.Len > MaxLen || int(in.Len) > len(code) {
			t.Fatalf("% x: length %d", code, in.Len)
		}
		alone, err := Decode(code[:in.Len])
		if err != nil || alone != in {
			t.Fatalf("% x: bytes behind it matter", code)
		}
		checkTruncation(t, code)
		checkParts(t, code, &in)
	})
}

// checkParts checks that the parts are adjacent and fill the instruction, and calls everything that
// reads them.
func checkParts(t *testing.T, code []byte, in *Inst) {
	t.Helper()
	end := in.OpOff + 1
	if in.HasModRM {
		if in.ModOff != end {
			t.Fatalf("% x: ModRM at %d, want %d", code[:in.Len], in.ModOff, end)
		}
		end++
	}
	if in.HasSIB {
		end++
	}
	for _, f := range [][2]uint8{{in.DispOff, in.DispLen}, {in.ImmOff, in.ImmLen}, {in.RelOff, in.RelLen}} {
		if f[1] == 0 {
			continue
		}
		if f[0] != end {
			t.Fatalf("% x: part at %d, want %d", code[:in.Len], f[0], end)
		}
		end += f[1]
	}
	if end != in.Len {
		t.Fatalf("% x: parts end at %d, length %d", code[:in.Len], end, in.Len)
	}
	if (in.RelLen > 0) != in.Flow.Direct() {
		t.Fatalf("% x: flow %v with %d bytes of displacement", code[:in.Len], in.Flow, in.RelLen)
	}
	if in.Steppable() && !in.Boostable() || in.Boostable() && in.Movable() != Fine {
		t.Fatalf("% x: steppable, boostable, movable contradict each other", code[:in.Len])
	}
	if want := readLE(code, in.DispOff, in.DispLen); uint64(in.Disp())<<(64-8*in.DispLen) != want<<(64-8*in.DispLen) {
		t.Fatalf("% x: displacement %#x, want %#x", code[:in.Len], in.Disp(), want)
	}
	if want := readLE(code, in.ImmOff, in.ImmLen); in.Imm() != want {
		t.Fatalf("% x: immediate %#x, want %#x", code[:in.Len], in.Imm(), want)
	}
	if want := readLE(code, in.RelOff, in.RelLen); uint64(in.Rel())<<(64-8*in.RelLen) != want<<(64-8*in.RelLen) {
		t.Fatalf("% x: branch displacement %#x, want %#x", code[:in.Len], in.Rel(), want)
	}
	var regs [16]uint64
	m, ok := in.MemOperand()
	if ok && (m.Base > R15 || m.Index > R15 || m.Index == RSP) {
		t.Fatalf("% x: operand %+v", code[:in.Len], m)
	}
	m.Addr(&regs, 0)
	in.Target(0)
	in.LoopTaken(0, 0)
	in.Imm()
	in.RMReg()
}

// readLE reads n bytes of code, lowest first.
func readLE(code []byte, off, n uint8) (v uint64) {
	for k := n; k > 0; k-- {
		v = v<<8 | uint64(code[off+k-1])
	}
	return v
}
