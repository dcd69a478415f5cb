package goabi

import (
	"strings"
	"testing"
	"unsafe"

	"sonde/arch/amd64"
)

// TestPtRegs: the general registers are where amd64.Regs has them, up to the number of a system call, and
// the others where their names say.
func TestPtRegs(t *testing.T) {
	r := amd64.Regs{R15: 15, R14: 14, R13: 13, R12: 12, BP: 5, BX: 3, R11: 11, R10: 10, R9: 9, R8: 8, AX: 100, CX: 1, DX: 2, SI: 6, DI: 7, SP: 4}
	for n := range int8(16) {
		name := PtRegs[PtReg(n)/WordSize]
		if want := strings.Fields("ax cx dx bx sp bp si di r8 r9 r10 r11 r12 r13 r14 r15")[n]; name != want {
			t.Errorf("register %d is %s, want %s", n, name, want)
		}
		if name == "sp" {
			continue
		}
		if got := *(*uint64)(unsafe.Add(unsafe.Pointer(&r), PtReg(n))); got != *r.Register(n) {
			t.Errorf("%s: %d, want %d", name, got, *r.Register(n))
		}
	}
	for name, at := range map[string]int{"ax": PtRegsAX, "ip": PtRegsIP, "cs": PtRegsCS, "sp": PtRegsSP} {
		if PtRegs[at/WordSize] != name {
			t.Errorf("%s: %s", name, PtRegs[at/WordSize])
		}
	}
	if got := Go[:3]; PtReg(got[1]) != 40 || len(SystemV.PtRegs()) != 6 || SystemV.PtRegs()[0] != 112 {
		t.Errorf("%v %v", Go.PtRegs(), SystemV.PtRegs())
	}
}
