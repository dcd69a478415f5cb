// Package prologue knows the stack check that Go's compiler puts at the entry of a
// function, and decides it on saved registers. It is plain Go: code, registers and the
// stack limit are arguments.
//
// The check (cmd/internal/obj/x86, stacksplit) is, for frames small, medium and
// large,
//
//	CMPQ SP, 16(R14)      LEAQ -n(SP), R12      MOVQ SP, R12; SUBQ $n, R12; JCS more
//	                      CMPQ R12, 16(R14)     CMPQ R12, 16(R14)
//
// each followed by JLS more. If it calls morestack, the function is restarted from its
// first byte with a larger stack: a probe at the entry counts the call only then.
//
// So a probe at such an entry does not execute the check but decides it, once. Otherwise a
// request to yield, which is a stack limit that every SP fails, could come in between, and
// the call would be counted twice or not at all. The call continues at the JLS, with flags
// that reflect the decision.
package prologue

import (
	"bytes"
	"encoding/binary"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// Check is the stack check of a function. The zero Check is none.
type Check struct {
	Kind  Kind
	Len   uint8  // bytes up to the JLS
	Frame uint64 // n, in bytes; 0 for Small
}

// Kind is the form of a check.
type Kind uint8

// The forms.
const (
	None   Kind = iota
	Small       // compares SP
	Medium      // compares SP-n
	Large       // compares SP-n, and checks for an underflow
)

// GuardOffset is the offset in a g of the limit that stack checks compare SP with.
const GuardOffset = 16

var (
	cmpSP  = []byte{0x49, 0x3b, 0x66, GuardOffset}      // CMPQ SP, 16(R14)
	cmpR12 = []byte{0x4d, 0x3b, 0x66, GuardOffset}      // CMPQ R12, 16(R14)
	lea8   = []byte{0x4c, 0x8d, 0x64, 0x24}             // LEAQ disp8(SP), R12
	lea32  = []byte{0x4c, 0x8d, 0xa4, 0x24}             // LEAQ disp32(SP), R12
	movSub = []byte{0x49, 0x89, 0xe4, 0x49, 0x81, 0xec} // MOVQ SP, R12; SUBQ $imm32, R12
)

// Offsets in the check of a large frame.
const (
	offSub = 3
	offJcs = 10
)

// Find returns the stack check at the start of code, which is a whole function.
//
// Context: any.
// Source:  the Go tree, src/cmd/internal/obj/x86/obj6.go, stacksplit.
func Find(code []byte) Check {
	var c Check
	switch {
	case bytes.HasPrefix(code, cmpSP):
		return Check{Kind: Small, Len: uint8(len(cmpSP))}
	case bytes.HasPrefix(code, lea8) && len(code) > 5:
		c = Check{Medium, 5, uint64(-int64(int8(code[4])))}
	case bytes.HasPrefix(code, lea32) && len(code) > 8:
		c = Check{Medium, 8, uint64(-int64(int32(binary.LittleEndian.Uint32(code[4:]))))}
	case bytes.HasPrefix(code, movSub) && len(code) > 12:
		c = Check{Large, offJcs + 2, uint64(binary.LittleEndian.Uint32(code[6:]))}
		if code[offJcs] == 0x0f {
			c.Len = offJcs + 6 // JCS rel32
		}
	default:
		return c
	}
	if int(c.Len) > len(code) || !bytes.HasPrefix(code[c.Len:], cmpR12) {
		return Check{}
	}
	c.Len += uint8(len(cmpR12))
	return c
}

// Grows reports whether the check, made on r with stack limit guard, leads to
// morestack.
//
// Context: any, including trap context.
// Units:   guard is the address in g.stackguard0.
func (c *Check) Grows(r *amd64.Regs, guard uint64) bool {
	return r.SP-c.Frame <= guard || r.SP < c.Frame
}

// Fits reports whether the frame fits the stack that ends at lo, with guard bytes left free. It
// does not look at the stack limit, which may be set for another purpose. A check that has passed
// fits.
//
// Context: any, including trap context.
func (c *Check) Fits(r *amd64.Regs, lo, guard uint64) bool {
	return r.SP > c.Frame && r.SP-c.Frame > lo+guard
}

// Perform sets r to the state after the check at addr: IP at the JLS, and flags that lead to
// morestack (grow) or not. No code reads the other flags.
//
// Context: any, including trap context.
func (c *Check) Perform(r *amd64.Regs, addr uint64, grow bool) {
	if c.Kind != Small {
		r.R12 = r.SP - c.Frame
	}
	r.Flags &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
	if grow {
		r.Flags |= amd64.RFLAGS_CF
	}
	r.IP = addr + uint64(c.Len)
}

// Alone reports whether there is no breakpoint on the instructions of the check after the first,
// which Perform would skip. code is the check as it is in memory now, Len bytes at least.
//
// Context: any, including trap context.
func (c *Check) Alone(code []byte) bool { return c.Next(code, 1) == c.Len }

// Next returns the offset of the first instruction of the check, from offset off
// on, that has a breakpoint in code; Len if there is none. code is as for Alone.
//
// Context: any, including trap context.
func (c *Check) Next(code []byte, off uint8) uint8 {
	compare := c.Len - uint8(len(cmpR12))
	for _, at := range [...]uint8{offSub, offJcs, compare} {
		if at < off || c.Kind == Small || c.Kind == Medium && at != compare {
			continue
		}
		if code[at] == insn.OpInt3 {
			return at
		}
	}
	return c.Len
}

// Skip moves r, which is in the check at addr and known to pass, to the next breakpoint from offset
// off on, or to the JLS: then done is true. code is as for Alone.
//
// Context: any, including trap context.
func (c *Check) Skip(r *amd64.Regs, addr uint64, code []byte, off uint8) (done bool) {
	n := c.Next(code, off)
	if r.R12 = r.SP - c.Frame; c.Kind == Large && n == offSub {
		r.R12 = r.SP // not subtracted yet
	}
	r.Flags &^= amd64.RFLAGS_CF | amd64.RFLAGS_ZF
	r.IP = addr + uint64(n)
	return n == c.Len
}
