package amd64

// Bits of DR6. Bits that always read as one are in DR6_FIXED; BLD and RTM are
// active low, so "nothing happened" is DR6_FIXED.
const (
	DR6_B0    = 1 << 0
	DR6_B1    = 1 << 1
	DR6_B2    = 1 << 2
	DR6_B3    = 1 << 3
	DR6_BLD   = 1 << 11
	DR6_BD    = 1 << 13
	DR6_BS    = 1 << 14
	DR6_BT    = 1 << 15
	DR6_RTM   = 1 << 16
	DR6_FIXED = 0xffff_0ff0
)

// Bits of DR7. The fields of breakpoint n are L and G at bit 2n, R/W at 16+4n
// and LEN at 18+4n.
const (
	DR7_L0    = 1 << 0
	DR7_G0    = 1 << 1
	DR7_LE    = 1 << 8
	DR7_GE    = 1 << 9
	DR7_FIXED = 1 << 10
	DR7_RTM   = 1 << 11
	DR7_GD    = 1 << 13
	DR7_RW0   = 3 << 16
	DR7_LEN0  = 3 << 18
)

// Breakpoints is the number of hardware breakpoints.
const Breakpoints = 4

// BreakKind is the R/W field of DR7.
type BreakKind uint8

const (
	BreakExec   BreakKind = 0
	BreakWrite  BreakKind = 1
	BreakIO     BreakKind = 2 // needs CR4_DE
	BreakAccess BreakKind = 3 // reads and writes; there is no "reads only"
)

// Breakpoint is one hardware breakpoint. The zero Breakpoint is off.
type Breakpoint struct {
	Addr uint64
	Kind BreakKind
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
	return b.Kind <= BreakAccess && b.Addr&uint64(b.Len-1) == 0 &&
		(b.Kind != BreakExec || b.Len == 1) && (b.Kind != BreakIO || b.Len <= 4)
}

// lenField[n] encodes a length of n bytes; 8 came last and got what was left.
var lenField = [9]uint8{1: 0, 2: 1, 4: 3, 8: 2}
var lenBytes = [4]uint8{1, 2, 8, 4}

// EncodeDR7 returns the DR7 that turns on those of b that are On, globally;
// false if one of them is not Valid. The addresses go to DR0 to DR3.
func EncodeDR7(b *[Breakpoints]Breakpoint) (uint64, bool) {
	dr7 := uint64(DR7_FIXED)
	for n := range b {
		if !b[n].On {
			continue
		}
		if !b[n].Valid() {
			return DR7_FIXED, false
		}
		dr7 |= DR7_G0<<(2*n) | uint64(b[n].Kind)<<(16+4*n) | uint64(lenField[b[n].Len])<<(18+4*n)
	}
	return dr7, true
}

// DecodeDR7 returns what dr7 with the addresses of DR0 to DR3 watches. The
// fields of a breakpoint that is off are decoded too: GDB stubs want them.
func DecodeDR7(dr7 uint64, addr *[Breakpoints]uint64) [Breakpoints]Breakpoint {
	var b [Breakpoints]Breakpoint
	for n := range b {
		b[n] = Breakpoint{
			Addr: addr[n],
			Kind: BreakKind(dr7 >> (16 + 4*n) & 3),
			Len:  lenBytes[dr7>>(18+4*n)&3],
			On:   dr7>>(2*n)&3 != 0,
		}
	}
	return b
}

// HitDR6 returns the first breakpoint that dr6 reports, -1 if none. Bits may
// be set for breakpoints that are off: mask dr6 with those that are On.
func HitDR6(dr6 uint64) int {
	for n := range Breakpoints {
		if dr6>>n&1 != 0 {
			return n
		}
	}
	return -1
}
