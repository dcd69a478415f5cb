package user

import (
	"bytes"
	"encoding/binary"
)

// The way to ring 3 and back is linked for processors with FSGSBASE and without AVX. Where FSGSBASE
// is missing, each of its instructions becomes a call of a routine that does the same by the MSRs;
// where there is AVX, FXSAVE and FXRSTOR become XSAVE and XRSTOR. So the choice costs nothing later,
// and there is one way to read and to change.

// An Alternative is code that has to replace what is linked: Old at Addr by New, as long.
type Alternative struct {
	Addr     uintptr
	Old, New []byte
}

// fsgsbase is how the instructions of FSGSBASE with a 64-bit register begin. The byte after it
// says which, and AX: 0xc0 RDFSBASE, 0xc8 RDGSBASE, 0xd0 WRFSBASE, 0xd8 WRGSBASE.
//
// Source: Intel SDM vol. 2B, "RDFSBASE/RDGSBASE"; vol. 2D, "WRFSBASE/WRGSBASE".
var fsgsbase = []byte{0xf3, 0x48, 0x0f, 0xae}

const (
	firstFSGSBASE = 0xc0
	opCall        = 0xe8
	callSize      = 5 // of a call, and of each of these instructions
)

// callsFor returns what replaces the instructions of FSGSBASE in code, which is at addr, by calls of
// routines: in the order of the instructions.
func callsFor(code []byte, addr uintptr, routines [4]uintptr) (all []Alternative) {
	for off := 0; ; off += callSize {
		i := bytes.Index(code[off:], fsgsbase)
		if i < 0 || off+i+callSize > len(code) {
			return all
		}
		off += i
		n := int(code[off+len(fsgsbase)]-firstFSGSBASE) / 8
		if n >= len(routines) {
			continue // FXSAVE and its kin have the same opcode
		}
		a := Alternative{Addr: addr + uintptr(off), Old: bytes.Clone(code[off : off+callSize]), New: make([]byte, callSize)}
		a.New[0] = opCall
		binary.LittleEndian.PutUint32(a.New[1:], uint32(routines[n]-a.Addr-callSize))
		all = append(all, a)
	}
}

// rexFX is how FXSAVE64 and FXRSTOR64 begin after their REX prefix, which has W set and X clear. The
// byte that follows has 0 or 1 in bits 3 to 5, and 4 or 5 makes it XSAVE64 or XRSTOR64.
//
// Source: Intel SDM vol. 2A, "FXSAVE", "FXRSTOR"; vol. 2D, "XSAVE", "XRSTOR".
var rexFX = []byte{0x0f, 0xae}

const fxToX = 4 << 3

// xsaveFor returns what makes each FXSAVE64 and FXRSTOR64 in code, which is at addr, an XSAVE64 or
// XRSTOR64 with the same operand.
func xsaveFor(code []byte, addr uintptr) (all []Alternative) {
	for off := 1; off < len(code); off++ {
		i := bytes.Index(code[off:], rexFX)
		if i < 0 || off+i+len(rexFX) == len(code) {
			return all
		}
		off += i
		rex, modrm := code[off-1], code[off+len(rexFX)]
		if rex&^5 != 0x48 || modrm>>6 == 3 || modrm>>3&7 > 1 {
			continue
		}
		a := Alternative{Addr: addr + uintptr(off-1), Old: bytes.Clone(code[off-1 : off+3])}
		a.New = append(bytes.Clone(a.Old[:3]), modrm|fxToX)
		all = append(all, a)
	}
	return all
}
