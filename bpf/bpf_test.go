package bpf

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// texts is instructions with their bytes. The first group LLVM 14 knows, the second is newer, the
// third is ours.
var texts = []struct{ text, code string }{
	{"r1 = r2", "bf21000000000000"},
	{"w1 = -1", "b4010000ffffffff"},
	{"r1 += 5", "0701000005000000"},
	{"w1 -= w2", "1c21000000000000"},
	{"r1 *= r2", "2f21000000000000"},
	{"r1 /= 7", "3701000007000000"},
	{"w1 |= 64", "4401000040000000"},
	{"r1 &= r10", "5fa1000000000000"},
	{"r1 <<= 32", "6701000020000000"},
	{"w1 >>= w2", "7c21000000000000"},
	{"r1 = -r1", "8701000000000000"},
	{"w1 = -w1", "8401000000000000"},
	{"r1 %= r2", "9f21000000000000"},
	{"r1 ^= -2147483648", "a701000000000080"},
	{"r1 s>>= 3", "c701000003000000"},
	{"r1 = be16 r1", "dc01000010000000"},
	{"r1 = le64 r1", "d401000040000000"},
	{"r1 = 0x123456789a ll", "180100009a7856340000000012000000"},
	{"r1 = *(u64 *)(r2 - 8)", "7921f8ff00000000"},
	{"r1 = *(u8 *)(r2 + 32767)", "7121ff7f00000000"},
	{"*(u32 *)(r10 - 4) = r1", "631afcff00000000"},
	{"*(u16 *)(r1 + 0) = r2", "6b21000000000000"},
	{"lock *(u32 *)(r1 + 0) += w2", "c321000000000000"},
	{"lock *(u64 *)(r1 + 0) |= r2", "db21000040000000"},
	{"r2 = atomic_fetch_add((u64 *)(r1 + 0), r2)", "db21000001000000"},
	{"w2 = atomic_fetch_xor((u32 *)(r1 - 4), w2)", "c321fcffa1000000"},
	{"r2 = xchg_64(r1 + 0, r2)", "db210000e1000000"},
	{"w2 = xchg32_32(r1 + 0, w2)", "c3210000e1000000"},
	{"r0 = cmpxchg_64(r1 + 8, r0, r2)", "db210800f1000000"},
	{"w0 = cmpxchg32_32(r1 + 0, w0, w2)", "c3210000f1000000"},
	{"if r1 == 5 goto +3", "1501030005000000"},
	{"if w1 s> w2 goto -3", "6e21fdff00000000"},
	{"if w1 s<= -1 goto +32767", "d601ff7fffffffff"},
	{"goto -32768", "0500008000000000"},
	{"call 5", "8500000005000000"},
	{"call pc-1", "85100000ffffffff"},
	{"exit", "9500000000000000"},

	{"if r1 & r2 goto +0", "4d21000000000000"},
	{"r1 s/= -7", "37010100f9ffffff"},
	{"w1 s%= w2", "9c21010000000000"},
	{"r1 = (s8)r2", "bf21080000000000"},
	{"w1 = (s16)w2", "bc21100000000000"},
	{"r1 = (s32)r2", "bf21200000000000"},
	{"r1 = bswap32 r1", "d701000020000000"},
	{"r1 = *(s32 *)(r2 + 8)", "8121080000000000"},
	{"r1 = *(s8 *)(r2 + 0)", "9121000000000000"},
	{"*(u64 *)(r10 - 8) = -1", "7a0af8ffffffffff"},
	{"*(u8 *)(r10 - 1) = 200", "720affffc8000000"},
	{"gotol +70000", "0600000070110100"},

	{"r1 = map[fd:5]", "18110000050000000000000000000000"},
	{"r1 = map[fd:5][0]+16", "18210000050000000000000010000000"},
	{"r1 = var[id:7]", "18310000070000000000000000000000"},
	{"r1 = subprog[+3]", "18410000030000000000000000000000"},
	{"r1 = map[idx:0]", "18510000000000000000000000000000"},
	{"r1 = map[idx:0][0]-1", "186100000000000000000000ffffffff"},
	{"call kfunc[id:7]", "8520000007000000"},
}

func TestTextAndBytes(t *testing.T) {
	for _, c := range texts {
		insns, err := Assemble(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := hex.EncodeToString(Encode(insns)); got != c.code {
			t.Errorf("%s: got bytes %s, want %s", c.text, got, c.code)
		}
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if insns, err = Decode(code); err != nil {
			t.Errorf("%s: %v", c.code, err)
		}
		if got, err := Text(insns, 0); err != nil || got != c.text {
			t.Errorf("%s: got %q (%v), want %q", c.code, got, err, c.text)
		}
	}
}

// TestOtherSpellings: what is accepted beside what is printed.
func TestOtherSpellings(t *testing.T) {
	for _, c := range []struct{ text, printed string }{
		{"w1 = 0xffffffff", "w1 = -1"},
		{"r1=-1", "r1 = -1"},
		{"r1 = + 7", "r1 = 7"},
		{"r1 -=-7 // seven", "r1 -= -7"},
		{"w1 = *(u32*)(r2+4) # four", "r1 = *(u32 *)(r2 + 4)"},
		{"*(u8 *)(r2 + 4) = w1", "*(u8 *)(r2 + 4) = r1"},
		{"*(u32 *)(r2 + 4) = 0xffffffff", "*(u32 *)(r2 + 4) = -1"},
		{"r1 = -1 ll", "r1 = 0xffffffffffffffff ll"},
		{"r1 = 18446744073709551615 ll", "r1 = 0xffffffffffffffff ll"},
	} {
		insns, err := Assemble(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got, err := Text(insns, 0); err != nil || got != c.printed {
			t.Errorf("%s: printed as %q (%v), want %q", c.text, got, err, c.printed)
		}
	}
}

func TestLabels(t *testing.T) {
	insns, err := Assemble(`
		again: r1 = 5 ll     # two units
		if r1 > 0 goto again
		gotol done
		call f
		r2 = subprog[f]
	f:
		goto f
	done:
		exit`)
	if err != nil {
		t.Fatal(err)
	}
	want := "r1 = 0x5 ll\nif r1 > 0 goto -3\ngotol +4\ncall pc+2\nr2 = subprog[+1]\ngoto -1\nexit\n"
	if got, err := Disassemble(insns); err != nil || got != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

func TestAssembleErrors(t *testing.T) {
	far := "goto end\n" + strings.Repeat("exit\n", 32768) + "end: exit"
	for _, c := range []struct{ text, want string }{
		{"exit\nr11 = 5", `line 2: found "r11", expected an instruction: a register, *, if, goto, gotol, call, lock or exit`},
		{"r1", `line 1: found the end of the line, expected =, or an operation such as += or s>>=`},
		{"r1 = w2", `line 1: found "w2", expected a whole register, r0 to r10`},
		{"w1 += r2", `line 1: found "r2", expected the low half of a register, w0 to w10`},
		{"r1 = 2147483648", `line 1: found "2147483648", expected a number from -2147483648 to 2147483647`},
		{"r1 = -2147483649", `line 1: found "-2147483649", expected a number from -2147483648 to 2147483647`},
		{"w1 = 0x100000000", `line 1: found "0x100000000", expected a number from -2147483648 to 4294967295`},
		{"r1 = 12x", `line 1: found "12x", expected a number from -2147483648 to 2147483647`},
		{"r1 = -", `line 1: found "-", expected a number from -2147483648 to 2147483647`},
		{"r1 = -r2", `line 1: found "r2", expected r1`},
		{"r1 = be24 r1", `line 1: found "be24", expected be16, be32, be64 and the like with le or bswap, of a whole register`},
		{"r1 = be16 r2", `line 1: found "r2", expected r1`},
		{"w1 = (s32)w2", `line 1: found "s32", expected what to extend: s8, s16`},
		{"r1 = *(u64 *)(r2 + 32768)", `line 1: found "+32768", expected a number from -32768 to 32767`},
		{"r1 = *(u63 *)(r2 + 8)", `line 1: found "u63", expected a type: u8, u16, u32, u64, s8, s16 or s32`},
		{"w1 = *(u64 *)(r2 + 8)", `line 1: found "u64", expected u8, u16 or u32 for the low half of a register`},
		{"*(s8 *)(r1 + 0) = r2", `line 1: found "s8", expected an unsigned type: a store does not extend`},
		{"*(u64 *)(r1 + 0) = w2", `line 1: found "w2", expected a whole register, r0 to r10`},
		{"lock *(u8 *)(r1 + 0) += r2", `line 1: found "u8", expected u32 or u64, the types of atomics`},
		{"r2 = atomic_fetch_add((u64 *)(r1 + 0), r3)", `line 1: found "r3", expected r2`},
		{"w2 = xchg_64(r1 + 0, w2)", `line 1: found w2 as the result, expected r2, which has the width of the memory`},
		{"r1 = cmpxchg_64(r1 + 0, r0, r2)", `line 1: found r1 as the result of cmpxchg, expected r0`},
		{"if r1 s== 5 goto +1", `line 1: found "s", expected a comparison, such as ==, s> or &`},
		{"if r1 == 5 goto 1", `line 1: found "1", expected a label, or a distance with its sign, such as +3`},
		{"exit now", `line 1: found "now", expected the end of the line`},
		{"call r2", `line 1: found "r2", expected the number of a helper, pc+3, kfunc[id:7] or a label`},
		{"r2: exit", `line 1: found ":", expected =, or an operation such as += or s>>=`},
		{"goto x", `line 1: the label "x" is not defined`},
		{"x: exit\nx: exit", `line 2: the label "x" is defined a second time`},
		{far, `line 1: the label "end" is +32768 instructions away: expected -32768 to +32767; gotol reaches further`},
		{"w1 = map[fd:5]", `line 1: found "map", expected a number or a register: what is loaded has 64 bits`},
		{"call", `line 1: found the end of the line, expected the number of a helper, pc+3, kfunc[id:7] or a label`},
	} {
		if _, err := Assemble(c.text); err == nil || err.Error() != c.want {
			t.Errorf("%.40q: got error %q, want %q", c.text, err, c.want)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	if insns, err := Decode(make([]byte, 9)); err == nil {
		t.Errorf("9 bytes: got %v, want an error", insns)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"8f01000000000000", "instruction 0: opcode 0x8f is not an instruction"}, // a negation of the source
		{"8d00000000000000", "instruction 0: opcode 0x8d is not an instruction"}, // a call of a register
		{"3000000000000000", "instruction 0: opcode 0x30 is not an instruction"}, // packet access
		{"d301000000000000", "instruction 0: opcode 0xd3 is not an instruction"}, // an atomic of a byte
		{"070b000000000000", "instruction 0: registers 0x0b: destination and source must be at most 10"},
		{"0721000000000000", "instruction 0: opcode 0x07: the source register is 2, and must be 0, since it is not used"},
		{"0f21000001000000", "instruction 0: opcode 0x0f: the immediate is 1, and must be 0, since it is not used"},
		{"0701010000000000", "instruction 0: opcode 0x07: the offset is 1, and must be 0, since it is not used"},
		{"9501000000000000", "instruction 0: opcode 0x95: the destination register is 1, and must be 0, since it is not used"},
		{"3701020001000000", "instruction 0: opcode 0x37: the offset is 2: expected 0, or 1 for signed division"},
		{"bc21200000000000", "instruction 0: opcode 0xbc: the offset is 32: a move can sign-extend 0, 8 or 16 bits"},
		{"d701000008000000", "instruction 0: opcode 0xd7: the immediate is 8: byte order can be changed of 16, 32 or 64 bits"},
		{"db21000002000000", "instruction 0: the immediate 0x2 is not an atomic operation"},
		{"8530000000000000", "instruction 0: the source register of a call is 3: expected 0 (helper), 1 (local) or 2 (kernel function)"},
		{"1801000000000000", "instruction 0: the second half of a 64-bit load is missing"},
		{"18010000000000000100000000000000", "instruction 0: the second half of a 64-bit load has opcode 0x01, registers 0x00 and offset 0: expected 0 in all"},
		{"18110000000000000000000001000000", "instruction 0: opcode 0x00: the immediate is 1, and must be 0, since it is not used"},
		{"1871000000000000", "instruction 0: the source register of a 64-bit load is 7: expected 0 to 6, which say what the immediate means"},
		{"", "instruction 0 is outside the program, which has 0"},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		insns, err := Decode(code)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(insns, 0); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.code, err, c.want)
		}
	}
}

// TestEveryOpcode: each opcode, with fields that some instruction uses, either is refused or is
// read back from its text as it was. How many exist is counted from the tables of RFC 9669.
func TestEveryOpcode(t *testing.T) {
	known := map[uint8]bool{}
	for op := range 256 {
		for _, off := range []int16{0, 1, 8, 16, 32, -7} {
			for _, imm := range []int32{0, 1, 16, 32, 64, -9, 0x41, 0xA0, Xchg, Cmpxchg} {
				for _, regs := range []uint8{0, 0x01, 0x10, 0x20, 0x30, 0x41, 0x51, 0x61, 0xA9} {
					insns := []Insn{{Op: uint8(op), Regs: regs, Off: off, Imm: imm}, {}}
					if Check(insns, 0) == nil {
						known[uint8(op)] = true
						roundTrip(t, insns)
					}
				}
			}
		}
	}
	// 2 classes: 12 binary operations with K and X, negation, byte order (3); 2 classes: 11
	// comparisons with K and X, 2 jumps; call, exit; 7 loads, 8 stores, 2 atomics, 1 wide load.
	if want := 2*(12*2+1) + 3 + 2*11*2 + 2 + 2 + 7 + 8 + 2 + 1; len(known) != want {
		t.Errorf("%d opcodes are instructions, want %d", len(known), want)
	}
}

// roundTrip compares the instruction at insns[0] with what its text assembles to.
func roundTrip(t *testing.T, insns []Insn) {
	t.Helper()
	if insns[0].IsWide() {
		insns = insns[:2]
	} else {
		insns = insns[:1]
	}
	text, err := Text(insns, 0)
	if err != nil {
		t.Fatalf("%v: %v", insns, err)
	}
	again, err := Assemble(text)
	if err != nil || !slices.Equal(again, insns) {
		t.Errorf("%v is printed as %q, which is read as %v (%v)", insns, text, again, err)
	}
}

func FuzzBytes(f *testing.F) {
	for _, c := range texts {
		code, _ := hex.DecodeString(c.code)
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		insns, err := Decode(code[:len(code)&^7])
		if err != nil {
			t.Fatal(err)
		}
		if got := Encode(insns); string(got) != string(code[:len(code)&^7]) {
			t.Errorf("got bytes %x, want %x", got, code)
		}
		for pc := range insns {
			if Check(insns, pc) == nil {
				roundTrip(t, insns[pc:])
			}
		}
	})
}

func FuzzAssemble(f *testing.F) {
	for _, c := range texts {
		f.Add(c.text)
	}
	f.Add("x: if r1 > 5 goto x\ncall x\nr1 = subprog[x]")
	f.Fuzz(func(t *testing.T, text string) {
		insns, err := Assemble(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("the error %q does not name a line", err)
			}
			return
		}
		printed, err := Disassemble(insns)
		if err != nil {
			t.Fatalf("%q is assembled to what is refused: %v", text, err)
		}
		again, err := Assemble(printed)
		if err != nil || !slices.Equal(again, insns) {
			t.Errorf("%q is printed as %q, which is read as %v (%v), want %v", text, printed, again, err, insns)
		}
	})
}
