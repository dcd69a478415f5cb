package program

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/goabi"
	"sonde/arch/amd64/trap"
	"sonde/probe/attach"
)

// Machine code that is put into programs. AX to R15 are used as bpf/jit has them.

const (
	offsetID      = int32(trap.OffsetID)
	offsetRunning = uint32(trap.OffsetRunning)
)

// asm is code that is being written.
type asm []byte

// These three have several hundred callers. Inlined, they would take 17 KB more.

//go:noinline
func (a *asm) put(b ...byte) { *a = append(*a, b...) }

//go:noinline
func (a *asm) imm32(v uint32) { *a = binary.LittleEndian.AppendUint32(*a, v) }

//go:noinline
func (a *asm) imm64(v uintptr) { *a = binary.LittleEndian.AppendUint64(*a, uint64(v)) }

// over puts a short jump, by its opcode, over what f puts.
func (a *asm) over(opcode byte, f func()) {
	a.put(opcode, 0)
	from := len(*a)
	f()
	(*a)[from-1] = byte(len(*a) - from)
}

const (
	jumpEqual    = 0x74
	jumpNotEqual = 0x75
	jumpAbove    = 0x73 // or equal
)

// around returns what comes before and after a program. A handler is called with a *attach.Hit in AX, and
// the program finds its context in BX. If another program runs on this CPU, this hit is
// counted, and the program does not run.
func (p *Prog) around() (enter, leave []byte) {
	var in, out asm
	regs := byte(unsafe.Offsetof(attach.Hit{}.Regs))
	if !p.seesRegisters() {
		regs = byte(unsafe.Offsetof(attach.Hit{}.Data))
	}
	if p.unused {
		in.put(0x48, 0x8b, 0x58, regs) // MOVQ regs(AX), BX
		return in, nil
	}
	in.put(0x65, 0x83, 0x3c, 0x25) // CMPL running(GS), $0
	in.imm32(offsetRunning)
	in.put(0)
	in.over(jumpEqual, func() {
		in.put(0x65, 0x8b, 0x1c, 0x25) // MOVL id(GS), BX
		in.imm32(uint32(offsetID))
		in.put(0x48, 0xc1, 0xe3, 6) // SHLQ $6, BX: the size of a nested
		in.put(0x48, 0xba)          // MOVQ $nested, DX
		in.imm64(uintptr(unsafe.Pointer(unsafe.SliceData(p.nested))))
		in.put(0x48, 0xff, 0x04, 0x1a) // INCQ (DX)(BX)
		in.put(0x31, 0xc0, 0xc3)       // XORL AX, AX; RET
	})
	in.put(0x65, 0x89, 0x24, 0x25) // MOVL SP, running(GS)
	in.imm32(offsetRunning)
	in.put(0x48, 0x8b, 0x58, regs) // MOVQ regs(AX), BX
	out.notRunning()
	return in, out
}

func (a *asm) notRunning() {
	a.put(0x65, 0xc7, 0x04, 0x25) // MOVL $0, running(GS)
	a.imm32(offsetRunning)
	a.imm32(0)
}

// softSize is how many bytes eitherCode has.
const softSize = 45

// eitherCode is the handler at places that call it in a trap or in a goroutine, as some do at times or
// always: system calls, watchpoints of processes, and the first hit of a thread. In a trap, where the M of
// the g in R14 has no goroutine, it is what the door leads to; in a goroutine, that is entered as from a
// trap. The code ends in a jump, so that no frame of its own is on a goroutine's stack, which may have to
// grow.
func (v *version) eitherCode() []byte {
	var a asm
	a.put(0x4d, 0x8b, 0x9e) // MOVQ m(R14), R11
	a.imm32(offsetM)
	a.put(0x49, 0x83, 0xbb) // CMPQ curg(R11), $0
	a.imm32(offsetCurg)
	a.put(0)
	a.put(0x48, 0xbf) // MOVQ $door, DI
	a.imm64(uintptr(unsafe.Pointer(&v.door)))
	a.over(jumpNotEqual, func() { a.put(0xff, 0x27) }) // JMP (DI)
	a.put(0x48, 0x8b, 0x3f)                            // MOVQ (DI), DI
	a.put(0x49, 0xbb)                                  // MOVQ $entering, R11
	a.imm64(entering())
	a.put(0x41, 0xff, 0xe3) // JMP R11
	return a
}

const _ = -(unsafe.Sizeof(nested{}) ^ 1<<6) // see around

// meterShift is the size of a meter, as a power of two.
const meterShift = 7

// doorCode is the code of a version's doors, to lie at at: the one that meters, and the one that holds
// doorSize bytes after it. helpMeter gets a frame: it may store its three arguments in its caller's, and
// the code that calls a handler has room there for one.
func (v *version) doorCode(at uintptr) []byte {
	var a asm
	a.meter(v.prog)
	a.put(0x48, 0xff, 0x0c, 0x1a) // DECQ credit(DX)(BX)
	a.put(0x0f, 0x89)             // JNS the program
	a.imm32(uint32(v.entry - at - uintptr(len(a)) - 4))
	a.put(0x55, 0x48, 0x89, 0xe5)       // PUSHQ BP; MOVQ SP, BP
	a.put(0x48, 0x83, 0xec, 4*wordSize) // SUBQ $32, SP
	a.put(0x65, 0x8b, 0x0c, 0x25)       // MOVL id(GS), CX
	a.imm32(uint32(offsetID))
	a.put(0x48, 0xbb) // MOVQ $v, BX
	a.imm64(uintptr(unsafe.Pointer(v)))
	a.put(0x49, 0xbb) // MOVQ $helpMeter, R11
	a.imm64(goabi.CodeOf(helpMeter))
	a.put(0x41, 0xff, 0xd3) // CALL R11
	a.put(0x31, 0xc0)       // XORL AX, AX
	a.put(0xc9, 0xc3)       // LEAVE; RET
	for len(a) < doorSize {
		a.put(0xcc)
	}
	a.meter(v.prog)
	a.put(0x48, 0xff, 0x44, 0x1a, byte(unsafe.Offsetof(meter{}.idle))) // INCQ idle(DX)(BX)
	a.put(0x31, 0xc0, 0xc3)                                            // XORL AX, AX; RET
	return a
}

// doorSize is how many bytes of code the first door has.
const doorSize = 2 * unit

// meter puts the address of the CPU's meter in DX and BX, whose sum it is.
func (a *asm) meter(p *Prog) {
	a.put(0x65, 0x8b, 0x1c, 0x25) // MOVL id(GS), BX
	a.imm32(uint32(offsetID))
	a.put(0x48, 0xc1, 0xe3, meterShift) // SHLQ $meterShift, BX
	a.put(0x48, 0xba)                   // MOVQ $meters, DX
	a.imm64(uintptr(unsafe.Pointer(unsafe.SliceData(p.meters))))
}

const _ = -unsafe.Offsetof(meter{}.credit) // see doorCode

// inlineCPU is bpf_get_smp_processor_id.
func inlineCPU() []byte {
	var a asm
	a.put(0x65, 0x8b, 0x04, 0x25) // MOVL id(GS), AX
	a.imm32(uint32(offsetID))
	return a
}

// inside reports whether an index is known, and that of an element.
func (m *Map) inside(index int64) bool { return index >= 0 && index < int64(m.Spec.MaxEntries) }

// inlineElement is a lookup in an array: the address of the element whose index is at BX, or known; or 0.
func (m *Map) inlineElement(index int64) []byte {
	var a asm
	if m.inside(index) {
		a.table(m, uintptr(index)*m.stride)
		return a
	}
	if m.Spec.MaxEntries == 1 {
		a.put(0x31, 0xc0)       // XORL AX, AX
		a.put(0x83, 0x3b, 0x00) // CMPL (BX), $0
		a.over(jumpNotEqual, func() { a.table(m, 0) })
		return a
	}
	a.put(0x8b, 0x13) // MOVL (BX), DX
	a.put(0x31, 0xc0) // XORL AX, AX
	a.put(0x81, 0xfa) // CMPL DX, $entries
	a.imm32(m.Spec.MaxEntries)
	a.over(jumpAbove, func() {
		a.table(m, 0)
		if m.stride == wordSize {
			a.put(0x48, 0x8d, 0x04, 0xd0) // LEAQ (AX)(DX*8), AX
			return
		}
		a.put(0x48, 0x69, 0xd2) // IMULQ $stride, DX
		a.imm32(uint32(m.stride))
		a.put(0x48, 0x01, 0xd0) // ADDQ DX, AX
	})
	return a
}

// table puts the address of a byte of this CPU's table in AX.
func (a *asm) table(m *Map, offset uintptr) {
	if m.near != 0 {
		a.put(0x65, 0x48, 0x8b, 0x04, 0x25) // MOVQ 0(GS), AX: the GS base
		a.imm32(0)
		a.put(0x48, 0x05) // ADDQ $offset, AX
		a.imm32(uint32(m.near) + uint32(offset))
		return
	}
	a.put(0x48, 0xb8) // MOVQ $base, AX
	a.imm64(uintptr(m.base) + offset)
	if m.each == 0 {
		return
	}
	a.put(0x65, 0x44, 0x8b, 0x1c, 0x25) // MOVL id(GS), R11
	a.imm32(uint32(offsetID))
	a.put(0x4d, 0x69, 0xdb) // IMULQ $each, R11
	a.imm32(uint32(m.each))
	a.put(0x4c, 0x01, 0xd8) // ADDQ R11, AX
}

// offsetIP is where in amd64.Regs IP is.
const offsetIP = int32(unsafe.Offsetof(amd64.Regs{}.IP))

// registersAt maps a place in Linux's struct pt_regs, which programs are written for, to one in amd64.Regs.
func registersAt(off int32, size int) (int32, error) {
	const (
		general  = int32(unsafe.Offsetof(amd64.Regs{}.Vector)) // up to here both are the same
		call     = 8                                           // then Linux has the number of a system call
		pastRegs = 21 * 8                                      // of a program of type perf_event
	)
	switch {
	case off < general:
		return off, nil
	case off < general+call:
		return 0, fmt.Errorf("the registers have no orig_ax")
	case off >= pastRegs:
		return 0, fmt.Errorf("the hit has no sample_period and addr")
	}
	return off - general - call + int32(unsafe.Offsetof(amd64.Regs{}.IP)), nil
}

// isElement tells whether a map's lookups can be inlined.
func (m *Map) isElement() bool {
	return m != nil && m.isArray() && !m.maps && uint64(m.each) < 1<<31 && m.stride < 1<<31
}
