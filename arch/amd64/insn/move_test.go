package insn

import "testing"

// TestMove has for each kind of instruction the reason Movable gives and a
// letter for each predicate that holds: B boostable, S steppable, E emulable.
func TestMove(t *testing.T) {
	for _, c := range []struct {
		name, code string
		why        Reason
		can        string
	}{
		{"mov", "48 89 c3", Fine, "BS"},
		{"lea rip", "48 8d 05 10 00 00 00", Fine, "BS"},
		{"vmovdqu rip", "c5 fe 6f 05 00 00 00 00", Fine, "BS"},
		{"push", "55", Fine, "BS"},
		{"rep movs", "f3 48 a5", Fine, "BS"},
		{"in", "e4 60", Fine, "BS"},
		{"out", "ef", Fine, "BS"},
		{"rep outs", "f3 6e", Fine, "BS"},
		{"endbr64", "f3 0f 1e fa", Fine, "BS"},
		{"stac", "0f 01 cb", Fine, "BS"},
		{"cld", "fc", Fine, "BS"},
		{"syscall in an immediate", "b8 0f 05 0f 05", Fine, "BS"},
		{"lock xadd", "f0 48 0f c1 08", Fine, "BS"},
		{"lock cmpxchg16b", "f0 48 0f c7 0f", Fine, "BS"},
		{"lock add imm", "f0 83 00 01", Fine, "BS"},
		{"lock add reg, mem", "f0 03 00", BadLock, ""},
		{"lock cmp", "f0 83 38 01", BadLock, ""},
		{"lock add to register", "f0 01 c0", BadLock, ""},
		{"lock pop", "f0 58", BadLock, ""},
		{"lock in map 0F38, opcode as add imm", "66 f0 0f 38 80 08", BadLock, ""},
		{"lock in map 0F38, opcode as add", "f0 0f 38 00 08", BadLock, ""},
		{"lock in map 0F3A, opcode as or", "66 f0 0f 3a 08 08 00", BadLock, ""},

		{"jmp", "eb 00", Fine, "E"},
		{"jcc", "0f 84 00 00 00 00", Fine, "E"},
		{"jrcxz", "e3 00", Fine, "E"},
		{"call", "e8 00 00 00 00", Fine, "E"},
		{"call with 66 W", "66 48 e8 00 00 00 00", Fine, "E"},
		{"ret", "c3", Fine, "E"},
		{"rep ret", "f3 c3", Fine, "E"},
		{"call*", "ff 15 00 00 00 00", Fine, "E"},
		{"jmp*", "ff e0", Fine, "E"},
		{"ret with 66", "66 c3", Branch66, ""},
		{"jmp rel8 with 66", "66 eb 00", Branch66, ""},
		{"call* with 66", "66 ff d0", Branch66, ""},

		{"pushf", "9c", Fine, "BE"},
		{"pushf with 66", "66 9c", Fine, "B"},
		{"popf", "9d", Fine, "E"},
		{"cli", "fa", Fine, "BE"},
		{"sti", "fb", InShadow, "E"},
		{"mov ss", "8e d0", InShadow, ""},
		{"lss", "0f b2 00", InShadow, ""},
		{"mov ds", "8e d8", Fine, "BS"},
		{"mov fs", "8e e0", Fine, "B"},
		{"pop gs", "0f a9", Fine, "B"},
		{"wrfsbase", "f3 48 0f ae d0", Fine, "B"},
		{"rdfsbase", "f3 48 0f ae c0", Fine, "BS"},
		{"swapgs", "0f 01 f8", Fine, "B"},
		{"wrmsr", "0f 30", Fine, "B"},
		{"rdmsr", "0f 32", Fine, "BS"},
		{"mov cr3, rax", "0f 22 d8", Fine, "B"},
		{"mov rax, cr3", "0f 20 d8", Fine, "BS"},
		{"mov dr7, rax", "0f 23 f8", Fine, "B"},
		{"lidt", "0f 01 18", Fine, "B"},
		{"sidt", "0f 01 08", Fine, "BS"},
		{"ltr", "0f 00 d8", Fine, "B"},

		{"eip-relative", "67 8b 05 00 00 00 00", RIP67, ""},
		{"67 without rip", "67 8b 00", Fine, "BS"},
		{"stray REX", "48 66 90", StrayREX, ""},
		{"stray REX, pushf", "48 f2 9c", StrayREX, ""},
		{"int3", "cc", Breakpoint, ""},
		{"ud2", "0f 0b", Undefined, ""},
		{"int", "cd 80", Interrupt, ""},
		{"int1", "f1", Interrupt, ""},
		{"far ret", "48 cb", Far, ""},
		{"far jmp", "48 ff 28", Far, ""},
		{"iretq", "48 cf", Iretq, ""},
		{"syscall", "0f 05", SystemCall, ""},
		{"sysret", "48 0f 07", SystemCall, ""},
		{"hlt", "f4", IdleWait, ""},
		{"mwait", "0f 01 c9", IdleWait, ""},
		{"umwait", "f2 0f ae f0", IdleWait, ""},
		{"mfence", "0f ae f0", Fine, "BS"},
		{"vmcall", "0f 01 c1", Hypervisor, ""},
		{"vmrun", "0f 01 d8", Elsewhere, ""},
		{"xbegin", "c7 f8 00 00 00 00", Transaction, ""},
		{"xend", "0f 01 d5", Transaction, ""},
		{"xabort", "c6 f8 00", Transaction, ""},
		{"pfadd", "0f 0f c1 9e", Obsolete, ""},
	} {
		in, err := Decode(unhex(t, c.code))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := in.Movable(); got != c.why {
			t.Errorf("%s: %q, want %q", c.name, got, c.why)
		}
		can := ""
		if in.Boostable() {
			can += "B"
		}
		if in.Steppable() {
			can += "S"
		}
		if in.Emulable() {
			can += "E"
		}
		if can != c.can {
			t.Errorf("%s: can %q, want %q", c.name, can, c.can)
		}
		if in.Steppable() && !in.Boostable() {
			t.Errorf("%s: a probe inside a handler could not get it done", c.name)
		}
	}
}

// TestNothingIsNotMovable: the Inst that Decode returns with an error could be moved, boosted and
// stepped, so that a caller that ignored the error continued.
func TestNothingIsNotMovable(t *testing.T) {
	in, err := Decode(unhex(t, "06"))
	if err != ErrInvalid {
		t.Fatal(err)
	}
	if in.Movable() != Undecoded || in.Boostable() || in.Steppable() || in.Emulable() {
		t.Errorf("movable: %q, boostable %v, steppable %v, emulable %v", in.Movable(), in.Boostable(), in.Steppable(), in.Emulable())
	}
}

func TestTraits(t *testing.T) {
	for _, c := range []struct {
		code string
		want Trait
	}{
		{"55", Push}, {"41 57", Push}, {"68 00 00 00 00", Push}, {"ff 30", Push}, {"0f a0", Push},
		{"5d", Pop}, {"8f 00", Pop}, {"c9", Pop}, {"c8 00 00 00", Push}, {"0f a1", Pop | Machine},
		{"e8 00 00 00 00", Push}, {"ff d0", Push}, {"ff e0", 0}, {"ff c0", 0}, {"c3", Pop},
		{"9c", Push | Pushf}, {"9d", Pop | Popf}, {"fa", Cli}, {"fb", Sti | Shadow},
		{"a4", String}, {"f3 a4", String | Rep}, {"f2 ae", String | Rep}, {"48 ad", String}, {"f3 6c", String | Rep},
		{"f3 90", 0}, {"f3 c3", Pop}, {"a8 01", 0}, {"9b", 0},
	} {
		in, err := Decode(unhex(t, c.code))
		if err != nil {
			t.Fatalf("%s: %v", c.code, err)
		}
		if in.Trait != c.want {
			t.Errorf("%s: %#x, want %#x", c.code, in.Trait, c.want)
		}
		if in.IsPushf() != c.want.Has(Pushf) || in.IsPopf() != c.want.Has(Popf) || in.IsCli() != c.want.Has(Cli) ||
			in.IsSti() != c.want.Has(Sti) || in.IsRep() != c.want.Has(Rep) {
			t.Errorf("%s: predicates contradict Trait", c.code)
		}
	}
}

func TestNamesAreComplete(t *testing.T) {
	for r := Fine; r <= reasons; r++ {
		if s := r.String(); s == "" {
			t.Errorf("reason %d has no text", r)
		}
	}
	for f := Next; f <= flows; f++ {
		if s := f.String(); s == "" {
			t.Errorf("flow %d has no name", f)
		}
	}
	for _, m := range []*opmap{&oneByte, &twoByte} {
		for b := range 256 {
			m.at(byte(b)) // rows shorter than 16 panic only here
		}
	}
	for _, m := range []*bitmap{&legacy38, &legacy3A, &vex1, &vex2, &vex3, &evex1, &evex2, &evex3, &evex5, &evex6} {
		for b := range 256 {
			m.has(byte(b), 3)
		}
	}
}
