package kprobes

// Trap context, but for findPrologue. The stack check at a function's entry is
// decided here, once per call.

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// A prologue is the stack check of a Go function, as the compiler writes it
// (cmd/internal/obj/x86, stacksplit), for frames small, medium and large:
//
//	CMPQ SP, 16(R14)      LEAQ -n(SP), R12      MOVQ SP, R12; SUBQ $n, R12; JCS more
//	                      CMPQ R12, 16(R14)     CMPQ R12, 16(R14)
//
// each followed by JLS more. If it leads to morestack the function is started
// again, so that the call is counted then.
//
// A site at such an entry does not execute the check but decides it: once, so
// that a preemption request in between cannot lead to a call that is counted
// twice or not at all, and goes on at the JLS with the flags that say so.
type prologue struct {
	kind  prologueKind
	frame uint64 // n, 0 for small
	len   uint8  // bytes up to the JLS
}

type prologueKind uint8

const (
	noCheck prologueKind = iota
	smallFrame
	mediumFrame
	largeFrame
)

var (
	cmpSP  = []byte{0x49, 0x3b, 0x66, 0x10}             // CMPQ SP, 16(R14)
	cmpR12 = []byte{0x4d, 0x3b, 0x66, 0x10}             // CMPQ R12, 16(R14)
	lea8   = []byte{0x4c, 0x8d, 0x64, 0x24}             // LEAQ disp8(SP), R12
	lea32  = []byte{0x4c, 0x8d, 0xa4, 0x24}             // LEAQ disp32(SP), R12
	movSub = []byte{0x49, 0x89, 0xe4, 0x49, 0x81, 0xec} // MOVQ SP, R12; SUBQ $imm32, R12
)

// findPrologue recognizes the stack check that code, a whole function, begins with.
//
// Context: goroutine.
func findPrologue(code []byte) prologue {
	var p prologue
	switch {
	case bytes.HasPrefix(code, cmpSP):
		return prologue{smallFrame, 0, 4}
	case bytes.HasPrefix(code, lea8) && len(code) > 5:
		p = prologue{mediumFrame, uint64(-int64(int8(code[4]))), 5}
	case bytes.HasPrefix(code, lea32) && len(code) > 8:
		p = prologue{mediumFrame, uint64(-int64(int32(binary.LittleEndian.Uint32(code[4:])))), 8}
	case bytes.HasPrefix(code, movSub) && len(code) > 12:
		p = prologue{largeFrame, uint64(binary.LittleEndian.Uint32(code[6:])), 10 + 2}
		if code[10] == 0x0f {
			p.len = 10 + 6 // JCS rel32
		}
	default:
		return p
	}
	if int(p.len) > len(code) || !bytes.HasPrefix(code[p.len:], cmpR12) {
		return prologue{}
	}
	p.len += uint8(len(cmpR12))
	return p
}

// grows reports whether the check, made on r with stack limit guard, leads to
// morestack.
//
// Context: trap.
func (p *prologue) grows(r *amd64.Regs, guard uint64) bool {
	return r.SP-p.frame <= guard || r.SP < p.frame
}

// perform has r come out of the check at the JLS, with flags that lead to
// morestack or not. What else the comparison sets nobody reads.
//
// Context: trap.
func (p *prologue) perform(r *amd64.Regs, addr uintptr, grow bool) {
	if p.kind != smallFrame {
		r.R12 = r.SP - p.frame
	}
	r.Flags &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
	if grow {
		r.Flags |= amd64.RFLAGS_CF
	}
	r.IP = uint64(addr) + uint64(p.len)
}

// compare is the offset of the comparison.
func (p *prologue) compare() int { return int(p.len) - len(cmpR12) }

// alone reports whether there is no breakpoint on the instructions of the check
// behind the first, which perform would pass by.
//
// Context: trap.
func (p *prologue) alone(addr uintptr) bool { return p.next(addr, 1) == p.len }

// next returns the offset of the first instruction of the check, from offset off
// on, that has a breakpoint; len if there is none. It looks at the code: that a
// site is in the table does not say that it is armed.
//
// Context: trap.
func (p *prologue) next(addr uintptr, off uint8) uint8 {
	const sub, jcs = 3, 10 // of a large frame
	if p.kind == largeFrame && off <= jcs {
		if off <= sub && load8(addr+sub) == insn.OpInt3 {
			return sub
		}
		if load8(addr+jcs) == insn.OpInt3 {
			return jcs
		}
	}
	if cmp := uint8(p.compare()); p.kind != smallFrame && off <= cmp && load8(addr+uintptr(cmp)) == insn.OpInt3 {
		return cmp
	}
	return p.len
}

// skip has r, in the check at addr, which is known to pass, go on at the next
// breakpoint from offset off on, or at the JLS.
//
// Context: trap.
func (p *prologue) skip(r *amd64.Regs, addr uintptr, off uint8) (done bool) {
	n := p.next(addr, off)
	if r.R12 = r.SP - p.frame; p.kind == largeFrame && n == 3 {
		r.R12 = r.SP
	}
	r.Flags &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
	r.IP = uint64(addr) + uint64(n)
	return n == p.len
}

// fits reports whether the frame fits the stack that ends at lo, whatever the
// stack limit says, which may ask for something else: a check that has passed
// does, exactly.
//
// Context: trap.
func (p *prologue) fits(r *amd64.Regs, lo, guard uint64) bool {
	return r.SP > p.frame && r.SP-p.frame > lo+guard
}

// load8 reads a byte of code.
func load8(addr uintptr) byte { return **(**byte)(unsafe.Pointer(&addr)) } // Safe because: it is mapped for good
