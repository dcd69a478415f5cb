package program

import (
	"unsafe"

	"sonde/bpf"
	"sonde/bpf/jit"
)

// tailCode is where tail calls enter the version: before its entry is what it takes, and there it is a jump to its
// program after what looks at the CPU's word of running programs, since the one that called it has done so. A
// program that has nothing to be protected leaves the word alone: here it is given up for it.
func (v *version) tailCode() []byte {
	var a asm
	a.imm32(uint32(v.prog.Checked.Worst))
	if v.prog.unused {
		a.notRunning()
	}
	a.put(0xe9) // JMP
	a.imm32(uint32(v.entry + uintptr(v.image.Tail) - (v.tail - costSize + uintptr(len(a)) + 4)))
	return a
}

const (
	costSize = 4                     // bytes before the entry of a tail call
	tailSize = costSize + 13 + 1 + 4 // that tailCode has at most
)

// tailCall leaves in AX where a tail call goes, or 0: R2, the array, is in BX, and R3 in CX, of which only the low
// half counts. What there is no credit for is lost in the array.
func (v *version) tailCall() jit.Helper {
	var a, cut asm
	const entries = unsafe.Offsetof(Map{}.Spec) + unsafe.Offsetof(bpf.MapSpec{}.MaxEntries)
	a.put(0x89, 0xc9, 0x31, 0xc0) // MOVL CX, CX; XORL AX, AX
	a.put(0x3b, 0x8b)             // CMPL CX, entries(BX)
	a.imm32(uint32(entries))
	a.over(jumpAbove, func() {
		a.put(0x6b, 0xc9, views*wordSize) // IMULL $bytes of an index, CX
		a.put(0x48, 0x03, 0x8b)           // ADDQ base(BX), CX
		a.imm32(uint32(unsafe.Offsetof(Map{}.base)))
		a.put(0x48, 0x8b, 0x41, byte((v.skip-kernels)*wordSize)) // MOVQ view(CX), AX
	})
	cut.put(0xf0, 0x48, 0xff, 0x83) // LOCK INCQ lost(BX)
	cut.imm32(uint32(unsafe.Offsetof(Map{}.lost)))
	return jit.Helper{Inline: a, Tail: true, Cut: cut}
}
