package insn

import (
	"debug/elf"
	"os"
	"runtime"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// TestX86asmAgrees walks the test binary and compares each instruction with x86asm v0.32.0, except
// those for which that is known to be wrong: see distrust.
func TestX86asmAgrees(t *testing.T) {
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
	compared, skipped, wrong := 0, 0, 0
	off, err := Walk(text, func(off int, in Inst) bool {
		code := text[off : off+int(in.Len)]
		other, err := x86asm.Decode(text[off:min(off+MaxLen, len(text))], 64)
		if distrust(&in, &other, err) {
			skipped++
			return true
		}
		compared++
		rel, relLen := in.RelOff, in.RelLen
		if in.RIPRel {
			rel, relLen = in.DispOff, in.DispLen
		}
		if other.Len != int(in.Len) || other.PCRel != int(relLen) || relLen > 0 && other.PCRelOff != int(rel) {
			wrong++
			t.Errorf("% x: x86asm has length %d, PCRel @%d+%d, %v; here %s",
				code, other.Len, other.PCRelOff, other.PCRel, other, describe(code))
		}
		return wrong < 10
	})
	if err != nil {
		t.Errorf("walk: offset %#x: %v", off, err)
	}
	t.Logf("%d instructions compared, %d skipped as not trusted, %d disagreements", compared, skipped, wrong)
	if compared < 10000 {
		t.Errorf("only %d instructions compared", compared)
	}
}

// distrust reports where x86asm v0.32.0 is known to be wrong: errors, unknown instructions with Op
// 0, VZEROUPPER and VZEROALL, for which it takes a byte too many, and VEX and EVEX operands whose
// PCRel is missing.
func distrust(in *Inst, other *x86asm.Inst, err error) bool {
	if err != nil || other.Op == 0 {
		return true
	}
	vector := in.Prefix.Has(PVEX | PEVEX)
	return vector && (in.Map == Map0F && in.Opcode == 0x77 || in.RIPRel)
}
