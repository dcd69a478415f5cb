package goabi

// PtRegs are the fields of Linux's struct pt_regs, which programs of probes get: a word each, in order.
//
// Source: Linux, arch/x86/include/asm/ptrace.h.
var PtRegs = [...]string{"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8", "ax", "cx", "dx", "si", "di",
	"orig_ax", "ip", "cs", "flags", "sp", "ss"}

// Where struct pt_regs has these, in bytes.
const (
	PtRegsAX = 10 * WordSize
	PtRegsIP = 16 * WordSize
	PtRegsCS = 17 * WordSize
	PtRegsSP = 19 * WordSize
)

// general are the places in PtRegs of the general registers, by their numbers in instructions.
var general = [16]int8{10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0}

// PtReg returns where struct pt_regs has a general register, in bytes.
func PtReg(n int8) int { return WordSize * int(general[n&15]) }

// PtRegs returns where struct pt_regs has the words, in bytes.
func (w Words) PtRegs() []int {
	at := make([]int, len(w))
	for i, n := range w {
		at[i] = PtReg(n)
	}
	return at
}
