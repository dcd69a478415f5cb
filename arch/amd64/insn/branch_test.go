package insn

import "testing"

// TestCondTrueMatchesManual checks all 16 codes on all 32 states of the five
// flags against the conditions as the manual writes them.
func TestCondTrueMatchesManual(t *testing.T) {
	type flags struct{ cf, pf, zf, sf, of bool }
	manual := [16]func(f flags) bool{
		func(f flags) bool { return f.of },
		func(f flags) bool { return !f.of },
		func(f flags) bool { return f.cf },
		func(f flags) bool { return !f.cf },
		func(f flags) bool { return f.zf },
		func(f flags) bool { return !f.zf },
		func(f flags) bool { return f.cf || f.zf },
		func(f flags) bool { return !f.cf && !f.zf },
		func(f flags) bool { return f.sf },
		func(f flags) bool { return !f.sf },
		func(f flags) bool { return f.pf },
		func(f flags) bool { return !f.pf },
		func(f flags) bool { return f.sf != f.of },
		func(f flags) bool { return f.sf == f.of },
		func(f flags) bool { return f.zf || f.sf != f.of },
		func(f flags) bool { return !f.zf && f.sf == f.of },
	}
	const noise = 1<<1 | 1<<4 | FlagTF | 1<<9 | 1<<10 // bits that must not matter
	for n := range 32 {
		f := flags{n&1 != 0, n&2 != 0, n&4 != 0, n&8 != 0, n&16 != 0}
		var r uint64
		for bit, on := range map[uint64]bool{FlagCF: f.cf, FlagPF: f.pf, FlagZF: f.zf, FlagSF: f.sf, FlagOF: f.of} {
			if on {
				r |= bit
			}
		}
		for cc, want := range manual {
			if CondTrue(uint8(cc), r) != want(f) || CondTrue(uint8(cc), r|noise) != want(f) {
				t.Errorf("condition %x on flags %#x: want %v", cc, r, want(f))
			}
		}
	}
}

func TestTargetAndCond(t *testing.T) {
	for _, c := range []struct {
		code   string
		target uint64
		cond   uint8
	}{
		{"eb fe", 0x1000, 0xE},
		{"eb 10", 0x1012, 0xB},
		{"75 80", 0xF82, 5},
		{"0f 8e 00 01 00 00", 0x1106, 14},
		{"e8 fb ff ff ff", 0x1000, 8},
		{"e9 00 00 00 80", 0xFFFFFFFF80001005, 9},
		{"66 48 e8 01 00 00 00", 0x1008, 8},
		{"e3 05", 0x1007, 3},
		{"c7 f8 10 00 00 00", 0x1016, 7},
		{"66 c7 f8 f0 ff", 0xFF5, 7},
	} {
		code := unhex(t, c.code)
		in, err := Decode(code)
		if err != nil {
			t.Fatalf("%s: %v", c.code, err)
		}
		if got := in.Target(0x1000); got != c.target {
			t.Errorf("%s: target %#x, want %#x", c.code, got, c.target)
		}
		if in.Flow == Jcc && in.Cond() != c.cond {
			t.Errorf("%s: condition %d, want %d", c.code, in.Cond(), c.cond)
		}
	}
}

func TestLoopTaken(t *testing.T) {
	const top = 0xAAAA_0000_0000_0000
	for _, c := range []struct {
		name, code      string
		rcx, flags, new uint64
		taken           bool
	}{
		{"loop", "e2 00", 2, 0, 1, true},
		{"loop ends", "e2 00", 1, 0, 0, false},
		{"loop from 0 wraps", "e2 00", 0, 0, ^uint64(0), true},
		{"loop ecx ends, upper half cleared", "67 e2 00", top | 1, 0, 0, false},
		{"loop ecx wraps", "67 e2 00", top, 0, 0xFFFFFFFF, true},
		{"loope zf", "e1 00", 2, FlagZF, 1, true},
		{"loope no zf", "e1 00", 2, 0, 1, false},
		{"loopne zf", "e0 00", 2, FlagZF, 1, false},
		{"loopne no zf", "e0 00", 2, 0, 1, true},
		{"jrcxz", "e3 00", 0, 0, 0, true},
		{"jrcxz not", "e3 00", top, 0, top, false},
		{"jecxz looks at the lower half", "67 e3 00", top, 0, top, true},
	} {
		in, err := Decode(unhex(t, c.code))
		if err != nil || in.Flow != Loop {
			t.Fatalf("%s: %v, %v", c.name, in.Flow, err)
		}
		if rcx, taken := in.LoopTaken(c.rcx, c.flags); rcx != c.new || taken != c.taken {
			t.Errorf("%s: got %#x, %v, want %#x, %v", c.name, rcx, taken, c.new, c.taken)
		}
	}
}

func TestImmediates(t *testing.T) {
	for _, c := range []struct {
		code string
		want uint64
	}{
		{"c2 08 80", 0x8008},
		{"48 b8 01 02 03 04 05 06 07 88", 0x8807060504030201},
		{"cd 80", 0x80},
		{"c8 20 00 03", 0x30020},
		{"c3", 0},
	} {
		code := unhex(t, c.code)
		in, err := Decode(code)
		if err != nil {
			t.Fatalf("%s: %v", c.code, err)
		}
		if got := in.Imm(); got != c.want {
			t.Errorf("%s: got %#x, want %#x", c.code, got, c.want)
		}
		if in.Flow == Ret && in.StackPop() != uint16(c.want) {
			t.Errorf("%s: StackPop %#x", c.code, in.StackPop())
		}
	}
}
