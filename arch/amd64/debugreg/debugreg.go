// Package debugreg encodes and decodes the processor's debug registers as plain numbers,
// and has the instructions that read and write them. DR0 to DR3 hold addresses, DR7 says
// what is watched there, and DR6 says which of them caused a #DB.
//
// Source: Intel SDM vol. 3B, "Debug Registers".
package debugreg

// Bits of DR6. "Nothing happened" is DR6_FIXED. The processor sets bits and never clears any.
const (
	DR6_B0    = 1 << 0
	DR6_B1    = 1 << 1
	DR6_B2    = 1 << 2
	DR6_B3    = 1 << 3
	DR6_BS    = 1 << 14
	DR6_FIXED = 0xffff_0ff0
)

// Bits of DR7. The fields of breakpoint n are L and G at bit 2n, R/W at 16+4n
// and LEN at 18+4n.
const (
	DR7_L0    = 1 << 0
	DR7_G0    = 1 << 1
	DR7_FIXED = 1 << 10
)

// Num is the number of hardware breakpoints.
const Num = 4

// Kind is the R/W field of DR7.
type Kind uint8

const (
	Exec   Kind = 0
	Write  Kind = 1
	IO     Kind = 2 // needs CR4_DE
	Access Kind = 3 // reads and writes; there is no "reads only"
)

// Breakpoint is one hardware breakpoint. The zero Breakpoint is off.
type Breakpoint struct {
	Addr uint64
	Kind Kind
	Len  uint8 // bytes: 1, 2, 4 or 8
	On   bool
}

// Valid reports whether the processor can watch b: a power of two in length,
// aligned to it; execution is one byte; there are no 8-byte ports.
func (b Breakpoint) Valid() bool {
	switch b.Len {
	case 1, 2, 4, 8:
	default:
		return false
	}
	return b.Kind <= Access && b.Addr&uint64(b.Len-1) == 0 &&
		(b.Kind != Exec || b.Len == 1) && (b.Kind != IO || b.Len <= 4)
}

// lenField[n] encodes a length of n bytes; 8 was added last and has the remaining code.
var lenField = [9]uint8{1: 0, 2: 1, 4: 3, 8: 2}

// A Set is what the four registers watch.
type Set [Num]Breakpoint

// Encode returns the DR7 that enables the breakpoints of s that are On, globally; false if one of
// them is not Valid. The addresses go to DR0 to DR3.
func (s *Set) Encode() (dr7 uint64, ok bool) {
	dr7 = DR7_FIXED
	for n := range s {
		b := &s[n]
		if !b.On {
			continue
		}
		if !b.Valid() {
			return DR7_FIXED, false
		}
		dr7 |= DR7_G0<<(2*n) | uint64(b.Kind)<<(16+4*n) | uint64(lenField[b.Len])<<(18+4*n)
	}
	return dr7, true
}

// Enabled returns which breakpoints dr7 turns on: bit n for n.
//
// Context: any.
func Enabled(dr7 uint64) (which uint64) {
	for n := range Num {
		which |= (dr7>>(2*n) | dr7>>(2*n+1)) & 1 << n
	}
	return which
}

// Hits returns the breakpoints that dr6 reports, of the enabled ones: the processor may set the
// bits of others, too. Bit n is breakpoint n.
//
// Context: any.
func Hits(dr6, on uint64) (which uint64) { return dr6 & on & (1<<Num - 1) }
