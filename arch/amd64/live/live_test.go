package live

import (
	"debug/elf"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"sonde/arch/amd64/insn"
)

// What mnemonics read and write, by Intel's manual. An instruction that is not listed neither reads nor writes flags,
// or is one of x87's or the system's, which FlagsOf need not know.
var (
	reading = map[string]Flags{"ADC": CF, "SBB": CF, "RCL": CF, "RCR": CF, "CMC": CF, "LAHF": byAH, "LOOPE": ZF, "LOOPNE": ZF,
		"PUSHF": all, "PUSHFD": all, "PUSHFQ": all, "ADCX": CF, "ADOX": OF}
	writing = map[string]Flags{"ADD": all, "ADC": all, "SUB": all, "SBB": all, "CMP": all, "NEG": all, "AND": logic, "OR": logic, "XOR": logic, "TEST": logic,
		"INC": all &^ CF, "DEC": all &^ CF, "IMUL": CF | OF, "MUL": CF | OF, "SHL": logic, "SHR": logic, "SAR": logic,
		"ROL": CF | OF, "ROR": CF | OF, "RCL": CF | OF, "RCR": CF | OF, "SHLD": logic, "SHRD": logic,
		"BT": CF, "BTS": CF, "BTR": CF, "BTC": CF, "BSF": ZF, "BSR": ZF, "TZCNT": CF | ZF, "LZCNT": CF | ZF, "POPCNT": all,
		"XADD": all, "CMPXCHG": all, "CMPXCHG8B": ZF, "CMPXCHG16B": ZF, "CLC": CF, "STC": CF, "CMC": CF, "SAHF": byAH,
		"POPF": all, "POPFD": all, "POPFQ": all, "UCOMISS": all, "UCOMISD": all, "COMISS": all, "COMISD": all, "PTEST": all,
		"CMPSB": all, "CMPSW": all, "CMPSD": all, "CMPSQ": all, "SCASB": all, "SCASW": all, "SCASD": all, "SCASQ": all,
		"PCMPESTRI": all, "PCMPESTRM": all, "PCMPISTRI": all, "PCMPISTRM": all, "RDRAND": all}
	suffixes = map[string]Flags{"O": OF, "B": CF, "E": ZF, "BE": CF | ZF, "S": SF, "P": PF, "L": SF | OF, "LE": SF | OF | ZF,
		"NO": OF, "AE": CF, "NE": ZF, "A": CF | ZF, "NS": SF, "NP": PF, "GE": SF | OF, "G": SF | OF | ZF}
)

// expected is what a mnemonic reads and may write.
func expected(op string) (reads, writes Flags) {
	for _, prefix := range []string{"J", "SET", "CMOV", "FCMOV"} {
		if s, ok := strings.CutPrefix(op, prefix); ok && suffixes[s] != 0 {
			return suffixes[s], 0
		}
	}
	return reading[op], writing[op]
}

// TestFlagsOfThisBinary: of each instruction in it, no flag that it reads is missing, and none is said to be written
// that it may leave.
func TestFlagsOfThisBinary(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the test binary is not an x86-64 ELF")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	seen, wrong, unknown := map[string]int{}, 0, 0
	insn.Walk(text, func(off int, in insn.Inst) bool {
		reads, writes := FlagsOf(&in)
		other, err := x86asm.Decode(text[off:min(off+insn.MaxLen, len(text))], 64)
		if err != nil || other.Op == 0 || in.Prefix.Has(insn.PVEX|insn.PEVEX) {
			return true
		}
		op := other.Op.String()
		mustRead, mayWrite := expected(op)
		if reads == all && mustRead != all {
			if in.Flow == insn.Next {
				unknown++
			}
			return true
		}
		if seen[op]++; mustRead&^reads != 0 || writes&^mayWrite != 0 || reads&^mustRead != 0 {
			t.Errorf("%v: reads %#x, writes %#x; by the manual %#x, %#x", other, reads, writes, mustRead, mayWrite)
			wrong++
		}
		return wrong < 10
	})
	n := 0
	for _, each := range seen {
		n += each
	}
	if len(seen) < 100 || n < 100_000 || unknown > n/1000 {
		t.Errorf("%d instructions with %d mnemonics compared, %d not known", n, len(seen), unknown)
	}
}

// TestEachOpcode: whatever x86asm knows as reading flags is known to read them, in each map, with each ModRM.
func TestEachOpcode(t *testing.T) {
	for _, prefix := range [][]byte{nil, {0x66}, {0xF2}, {0xF3}, {0x48}, {0x66, 0x48}, {0xF3, 0x48}} {
		for _, escape := range [][]byte{nil, {0x0F}, {0x0F, 0x38}, {0x0F, 0x3A}} {
			for op := range 256 {
				for modrm := 0; modrm < 256; modrm += 8 {
					for _, imm := range []byte{0, 1, 2, 32} {
						code := append(append(append([]byte{}, prefix...), escape...), byte(op), byte(modrm), imm, imm, 0, 0, 0, 0, 0, 0, 0)
						in, err := insn.Decode(code)
						other, otherErr := x86asm.Decode(code, 64)
						if err != nil || otherErr != nil || other.Op == 0 || in.Len != uint8(other.Len) {
							continue
						}
						reads, writes := FlagsOf(&in)
						mustRead, mayWrite := expected(other.Op.String())
						if mustRead&^reads != 0 || reads != all && writes&^mayWrite != 0 {
							t.Fatalf("% x: %v reads %#x, writes %#x; by the manual %#x, %#x", code, other, reads, writes, mustRead, mayWrite)
						}
					}
				}
			}
		}
	}
}

// TestCounts: a shift by nothing writes nothing, and of others OF is certain only for 1.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		code          []byte
		reads, writes Flags
	}{
		{[]byte{0x48, 0xC1, 0xE0, 0}, 0, 0},
		{[]byte{0x48, 0xC1, 0xE0, 64}, 0, 0},
		{[]byte{0xC1, 0xE0, 32}, 0, 0},
		{[]byte{0x48, 0xC1, 0xE0, 32}, 0, CF | SF | ZF | PF},
		{[]byte{0x48, 0xD1, 0xE0}, 0, logic},
		{[]byte{0x48, 0xD3, 0xE0}, 0, 0},
		{[]byte{0x66, 0xC1, 0xE0, 17}, 0, 0},
		{[]byte{0xC0, 0xE0, 9}, 0, 0},
		{[]byte{0x48, 0xC1, 0xD0, 3}, CF, 0},
		{[]byte{0x48, 0xC1, 0xC0, 3}, 0, 0},
		{[]byte{0x0F, 0xC7, 0xF0}, all, 0},                // rdrand
		{[]byte{0xF3, 0xA6}, all, 0},                      // repe cmps
		{[]byte{0xDA, 0xC1}, all, 0},                      // fcmovb
		{[]byte{0xC5, 0xF8, 0x2E, 0xC1}, 0, all},          // vucomiss
		{[]byte{0x66, 0x0F, 0x38, 0xF6, 0xC1}, all, 0},    // adcx
		{[]byte{0x66, 0x0F, 0x38, 0x17, 0xC1}, 0, all},    // ptest
		{[]byte{0x66, 0x0F, 0x3A, 0x63, 0xC1, 0}, 0, all}, // pcmpistri
	} {
		in, err := insn.Decode(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if reads, writes := FlagsOf(&in); reads != c.reads || writes != c.writes {
			t.Errorf("% x: reads %#x, writes %#x, want %#x, %#x", c.code, reads, writes, c.reads, c.writes)
		}
	}
}

// Functions at 0x1000: each is asked for the flags at its beginning.
var functions = []struct {
	name     string
	code     []byte
	compiled bool
	dead     bool
}{
	{"add", []byte{0x48, 0x01, 0xC0}, false, true},
	{"mov, push, add", []byte{0x48, 0x89, 0xC0, 0x55, 0x48, 0x01, 0xC0}, false, true},
	{"jb", []byte{0x72, 0x00, 0x48, 0x01, 0xC0}, false, false},
	{"adc", []byte{0x48, 0x11, 0xC0}, false, false},
	{"sete", []byte{0x0F, 0x94, 0xC0}, false, false},
	{"inc, jb", []byte{0x48, 0xFF, 0xC0, 0x72, 0x00}, false, false},
	{"inc, je, add", []byte{0x48, 0xFF, 0xC0, 0x74, 0x00, 0x48, 0x01, 0xC0}, false, true},
	{"and, add: AF is written by the second", []byte{0x48, 0x21, 0xC0, 0x48, 0x01, 0xC0}, false, true},
	{"and, lahf", []byte{0x48, 0x21, 0xC0, 0x9F}, false, false},
	{"shl by 0, jb", []byte{0x48, 0xC1, 0xE0, 0x00, 0x72, 0x00}, true, false},
	{"ret", []byte{0xC3}, true, true},
	{"ret in assembly", []byte{0xC3}, false, false},
	{"call of a compiled function", []byte{0xE8, 0xFB, 0x0F, 0x00, 0x00}, true, true},
	{"call of assembly", []byte{0xE8, 0xFB, 0x1F, 0x00, 0x00}, true, false},
	{"call in assembly", []byte{0xE8, 0xFB, 0x0F, 0x00, 0x00}, false, false},
	{"indirect call", []byte{0xFF, 0xD0}, true, true},
	{"indirect jump", []byte{0xFF, 0xE0}, true, false},
	{"jmp out", []byte{0xE9, 0xFB, 0x0F, 0x00, 0x00}, true, true},
	{"jmp out in assembly", []byte{0xE9, 0xFB, 0x0F, 0x00, 0x00}, false, false},
	{"jmp over jb", []byte{0xEB, 0x02, 0x72, 0x00, 0x48, 0x01, 0xC0}, false, true},
	{"loop to itself", []byte{0xEB, 0xFE}, false, true},
	{"loopne", []byte{0xE0, 0x00, 0x48, 0x01, 0xC0}, false, false},
	{"jrcxz to jb", []byte{0xE3, 0x03, 0x48, 0x01, 0xC0, 0x72, 0x00}, false, false},
	{"end", []byte{0x90}, true, false},
	{"ud2", []byte{0x0F, 0x0B}, true, false},
	{"not an instruction", []byte{0x06}, true, false},
	{"pushf", []byte{0x9C}, true, false},
}

func TestFlagsDead(t *testing.T) {
	for _, c := range functions {
		f := Function{Addr: 0x1000, Code: c.code, Compiled: func(addr uint64) bool { return addr == 0x1000 && c.compiled || addr == 0x2000 }}
		if dead := f.FlagsDead(0); dead != c.dead {
			t.Errorf("%s: dead %v", c.name, dead)
		}
	}
	long := append(make([]byte, 0, 400), 0x90)
	for len(long) < most {
		long = append(long, 0x90)
	}
	f := Function{Code: append(long, 0xC3), Compiled: func(uint64) bool { return true }}
	if f.FlagsDead(0) {
		t.Error("it looks at more than it says")
	}
	if !f.FlagsDead(1) {
		t.Error("it looks at less than it says")
	}
}

func TestEntryFree(t *testing.T) {
	yes, no := func(uint64) bool { return true }, func(uint64) bool { return false }
	loop := []byte{0x48, 0xFF, 0xC0, 0x75, 0xFB, 0xC3} // inc, jne to the entry, ret
	table := []byte{0xFF, 0xE0, 0xC3}
	for i, c := range []struct {
		f       Function
		checked bool
		free    bool
	}{
		{Function{Code: []byte{0xC3}, Compiled: yes}, false, true},
		{Function{Code: []byte{0xC3}, Compiled: no}, true, false},
		{Function{Code: loop, Compiled: yes}, false, false},
		{Function{Code: loop, Compiled: yes}, true, true},
		{Function{Code: table, Compiled: yes}, false, false},
		{Function{Code: []byte{0xE8, 0xFB, 0xFF, 0xFF, 0xFF, 0xC3}, Compiled: yes}, false, true}, // calls itself
		{Function{Code: []byte{0x06}, Compiled: yes}, false, false},
	} {
		if free := c.f.EntryFree(c.checked); free != c.free {
			t.Errorf("%d: free %v", i, free)
		}
	}
}
