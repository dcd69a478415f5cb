package program

import (
	"unsafe"

	"sonde/probe/ring"
)

// Machine code that writes records: what ring.Writer does for a writer that nothing interrupts. Programs are
// such: interrupts are off, and none runs inside of another on the same CPU.

// distance puts the 4 bytes of a jump's distance, which the compiler fills in, and returns where.
func (a *asm) distance() int {
	a.imm32(0)
	return len(*a) - 4
}

// at puts the rest of an instruction: its operand is a field of the writer at R11.
func (a *asm) at(offset uintptr) { a.imm32(uint32(offset)) }

// writer puts the address of this CPU's writer in R11.
func (a *asm) writer(m *Map) {
	a.put(0x65, 0x8b, 0x14, 0x25) // MOVL id(GS), DX
	a.imm32(uint32(offsetID))
	a.put(0x48, 0x69, 0xd2) // IMULQ $size, DX
	a.at(ring.Layout.Size)
	a.put(0x49, 0xbb) // MOVQ $writers, R11
	a.imm64(uintptr(unsafe.Pointer(m.ring.Writer(0))))
	a.put(0x49, 0x01, 0xd3) // ADDQ DX, R11
}

// inlineReserve is bpf_ringbuf_reserve: BX bytes, flags in CX. slow are the jumps to the helper: there are
// flags, the record is too large, there is no room, or it would not be in one piece.
func (m *Map) inlineReserve() (code []byte, slow []int) {
	var a asm
	size := uint32(m.ringSize())
	a.put(0x48, 0x85, 0xc9) // TESTQ CX, CX
	a.put(0x0f, 0x85)       // JNE slow
	slow = append(slow, a.distance())
	a.put(0x48, 0x81, 0xfb) // CMPQ BX, $largest
	a.imm32(uint32(ring.Largest(int(size)) - recordHead))
	a.put(0x0f, 0x87) // JHI slow
	slow = append(slow, a.distance())
	a.put(0x48, 0x8d, 0x73, recordHead+ring.HeaderSize+ring.Align-1) // LEAQ …(BX), SI
	a.put(0x48, 0x83, 0xe6, 256-ring.Align)                          // ANDQ $-align, SI: what it takes
	a.writer(m)
	a.put(0x49, 0x8b, 0x83) // MOVQ head(R11), AX
	a.at(ring.Layout.Head)
	a.put(0x48, 0x89, 0xc2) // MOVQ AX, DX
	a.put(0x48, 0xf7, 0xda) // NEGQ DX
	a.put(0x81, 0xe2)       // ANDL $size-1, DX: how much is left up to the end of the memory; 0: all
	a.imm32(size - 1)
	a.put(0x48, 0x83, 0xea, 1)    // SUBQ $1, DX
	a.put(0x48, 0x8d, 0x7e, 0xff) // LEAQ -1(SI), DI
	a.put(0x48, 0x39, 0xfa)       // CMPQ DX, DI
	a.put(0x0f, 0x82)             // JCS slow
	slow = append(slow, a.distance())
	a.put(0x48, 0x01, 0xc6) // ADDQ AX, SI: the head afterwards
	a.put(0x48, 0x89, 0xf2) // MOVQ SI, DX
	a.put(0x49, 0x2b, 0x93) // SUBQ tail(R11), DX
	a.at(ring.Layout.Tail)
	a.put(0x48, 0x81, 0xfa) // CMPQ DX, $size
	a.imm32(size)
	a.put(0x0f, 0x87) // JHI slow
	slow = append(slow, a.distance())
	a.header(size)
	return a, slow
}

// header puts what makes the record at AX, of BX bytes, and moves the writer's head from there to SI.
func (a *asm) header(size uint32) {
	a.put(0x49, 0xff, 0x83) // INCQ open(R11)
	a.at(ring.Layout.Open)
	a.put(0x49, 0x89, 0xb3) // MOVQ SI, head(R11)
	a.at(ring.Layout.Head)
	a.put(0x25) // ANDL $size-1, AX
	a.imm32(size - 1)
	a.put(0x48, 0x89, 0xc6) // MOVQ AX, SI
	a.put(0x49, 0x03, 0xb3) // ADDQ memory(R11), SI
	a.at(ring.Layout.Memory)
	a.put(0x48, 0x8d, 0x43, recordHead)      // LEAQ recordHead(BX), AX
	a.put(0x48, 0x89, 0x06)                  // MOVQ AX, (SI)
	a.put(0x4c, 0x89, 0x5e, ring.HeaderSize) // MOVQ R11, header(SI): whose the record is
	a.time()
	a.put(0x48, 0x89, 0x46, wordSize)                   // MOVQ AX, 8(SI)
	a.put(0x48, 0x8d, 0x46, ring.HeaderSize+recordHead) // LEAQ …(SI), AX
}

// time puts the time in AX: see cpu.Nanotime.
func (a *asm) time() {
	base, mul := clock()
	a.put(0x0f, 0x31)             // RDTSC
	a.put(0x48, 0xc1, 0xe2, 0x20) // SHLQ $32, DX
	a.put(0x48, 0x09, 0xd0)       // ORQ DX, AX
	a.put(0x48, 0xba)             // MOVQ $base, DX
	a.imm64(uintptr(base))
	a.put(0x48, 0x29, 0xd0) // SUBQ DX, AX
	a.put(0x48, 0xba)       // MOVQ $mul, DX
	a.imm64(uintptr(mul))
	a.put(0x48, 0xf7, 0xe2)             // MULQ DX
	a.put(0x48, 0x0f, 0xac, 0xd0, 0x20) // SHRQ $32, DX, AX
	a.put(0x48, 0xff, 0xc0)             // INCQ AX
}

// inlineTime is bpf_ktime_get_ns.
func inlineTime() []byte {
	var a asm
	a.time()
	return a
}

// inlineSubmit is bpf_ringbuf_submit of the record at R8.
func inlineSubmit() []byte {
	var a asm
	a.put(0x4d, 0x8b, 0x58, 256-recordHead) // MOVQ -recordHead(R8), R11
	a.put(0x49, 0xff, 0x83)                 // INCQ written(R11)
	a.at(ring.Layout.Written)
	a.put(0x49, 0x83, 0xbb) // CMPQ open(R11), $1
	a.at(ring.Layout.Open)
	a.put(1)
	a.over(jumpNotEqual, func() {
		a.put(0x49, 0x8b, 0x93) // MOVQ head(R11), DX
		a.at(ring.Layout.Head)
		a.put(0x49, 0x89, 0x93) // MOVQ DX, done(R11)
		a.at(ring.Layout.Done)
	})
	a.put(0x49, 0xff, 0x8b) // DECQ open(R11)
	a.at(ring.Layout.Open)
	a.put(0x31, 0xc0) // XORL AX, AX
	return a
}

// inlineLog2 is log2 of R8: see bpf.Bucket.
func inlineLog2() []byte {
	var a asm
	a.put(0x49, 0x0f, 0xbd, 0xc0) // BSRQ R8, AX
	a.put(0x48, 0x83, 0xca, 0xff) // ORQ $-1, DX
	a.put(0x4d, 0x85, 0xc0)       // TESTQ R8, R8
	a.put(0x48, 0x0f, 0x44, 0xc2) // CMOVQEQ DX, AX
	a.put(0x48, 0x8d, 0x40, 2)    // LEAQ 2(AX), AX
	a.put(0x41, 0xbb)             // MOVL $0, R11, which leaves the flags
	a.imm32(0)
	a.put(0x49, 0x0f, 0x48, 0xc3) // CMOVQMI R11, AX
	return a
}

// inlineHistAdd is hist_add of CX in an array of histograms, of which the index is at BX, or known. slow is
// the jump to the helper: there is no such element.
func (m *Map) inlineHistAdd(index int64) (code []byte, slow []int) {
	a := asm(m.inlineElement(index))
	if !m.inside(index) {
		a.put(0x48, 0x85, 0xc0) // TESTQ AX, AX
		a.put(0x0f, 0x84)       // JEQ slow
		slow = append(slow, a.distance())
	}
	a.put(0x48, 0x0f, 0xbd, 0xd1) // BSRQ CX, DX
	a.put(0x49, 0x83, 0xcb, 0xff) // ORQ $-1, R11
	a.put(0x48, 0x85, 0xc9)       // TESTQ CX, CX
	a.put(0x49, 0x0f, 0x44, 0xd3) // CMOVQEQ R11, DX
	a.put(0x48, 0x8d, 0x52, 2)    // LEAQ 2(DX), DX
	a.put(0x41, 0xbb)             // MOVL $0, R11, which leaves the flags
	a.imm32(0)
	a.put(0x49, 0x0f, 0x48, 0xd3) // CMOVQMI R11, DX
	a.put(0x48, 0xff, 0x04, 0xd0) // INCQ (AX)(DX*8)
	a.put(0x31, 0xc0)             // XORL AX, AX
	return a, slow
}
