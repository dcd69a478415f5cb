package user

import (
	"bytes"
	"encoding/binary"
	"errors"

	"sonde/arch/amd64"
	"sonde/kernel/goruntime"
)

// Offsets in the area of FXSAVE and XSAVE, in bytes. Source: Intel SDM vol. 1, "FXSAVE Area" and
// "Standard Form of XSAVE Area".
const (
	fxFCW    = 0
	fxMXCSR  = 24
	fxST     = 32
	fxXMM    = 160
	fxSize   = 512 // of what FXSAVE stores; XSAVE's header follows
	xHeader  = fxSize
	xUpper   = xHeader + 64 // the upper halves of AVX's registers
	xSize    = xUpper + 16*16
	mxcsrMax = 0xffff // bits beyond these do not exist
)

// fpRoom is the size of an area with a word after it, see FP, and a multiple of 16.
const fpRoom = xSize + 16

// components are the parts of the state that XSAVE stores. Programs have no others: those of
// AVX-512, MPX and AMX and protection keys stay off in XCR0, which programs have to read before
// they use them.
const components = amd64.XCR0_X87 | amd64.XCR0_SSE | amd64.XCR0_AVX

// avx says that programs may use AVX, and that XSAVE is used. Written once by Init.
var avx bool

// hasAVX reports whether the processor has XSAVE and AVX, with AVX's part where it always is.
//
// Source: Intel SDM vol. 2A, "CPUID": leaves 1 and 0Dh.
func hasAVX(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) bool {
	const xsave, has = 1 << 26, 1 << 28
	if max, _, _, _ := cpuid(0, 0); max < 0xd {
		return false
	}
	if _, _, c, _ := cpuid(1, 0); c&xsave == 0 || c&has == 0 {
		return false
	}
	size, offset, _, _ := cpuid(0xd, 2)
	return size == xSize-xUpper && offset == xUpper
}

// FPSize is the length of what FP returns, in bytes.
//
// Context: any, after Init.
func FPSize() int {
	if avx {
		return xSize
	}
	return fxSize
}

// FP returns c's floating-point state in FXSAVE's format, or XSAVE's where programs may use AVX. It
// is valid until Run. It has room for the caller to append four bytes.
//
// Context: as Clone.
func (c *Context) FP() []byte {
	c.saveLazy()
	copy(c.fx[:fxMXCSR], c.user.X87[:])
	copy(c.fx[fxST:fxXMM], c.user.X87[fxST:])
	if !avx {
		return c.fx[:fxSize]
	}
	copy(c.fx[xHeader:], c.user.X87[xHeader:])
	c.fx[xHeader] |= amd64.XCR0_X87 | amd64.XCR0_SSE
	return c.fx[:xSize]
}

// ErrFP is returned by SetFP.
var ErrFP = errors.New("user: no valid state of FXSAVE or XSAVE")

// SetFP sets c's floating-point state, in a format of FP: in XSAVE's, what its header says is not
// there is as New makes it; in FXSAVE's, the upper halves of AVX's registers.
//
// Context: as Clone.
// Errors: ErrFP if FXRSTOR or XRSTOR would refuse it.
func (c *Context) SetFP(state []byte) error {
	if !valid(state) {
		return ErrFP
	}
	fp := c.fx[:xSize]
	if n := copy(fp, state); n == fxSize {
		clear(fp[xHeader:])
		fp[xHeader] = amd64.XCR0_X87 | amd64.XCR0_SSE
	}
	complete(fp)
	c.setLazy(fp)
	return nil
}

// complete makes the parts of a state that its header says are not there as New makes them.
func complete(fp []byte) {
	present := fp[xHeader]
	fp[xHeader] |= amd64.XCR0_X87 | amd64.XCR0_SSE
	if present&amd64.XCR0_X87 == 0 {
		clear(fp[:fxMXCSR])
		clear(fp[fxST:fxXMM])
		binary.LittleEndian.PutUint16(fp[fxFCW:], amd64.FCW)
	}
	if present&amd64.XCR0_SSE == 0 {
		clear(fp[fxXMM : fxXMM+16*16])
	}
	if present&amd64.XCR0_AVX == 0 {
		clear(fp[xUpper:])
	}
}

// saveLazy makes user.X87 have all that it is for.
func (c *Context) saveLazy() {
	goruntime.SaveX87(&c.user)
	if avx && c.user.X87[xHeader]&amd64.XCR0_X87 == 0 {
		complete(c.user.X87[:]) // ResetFP was here, and the program has not run since
	}
}

// setLazy sets what user.X87 is for; if it is the same already, the registers need not be loaded.
func (c *Context) setLazy(fp []byte) {
	c.saveLazy()
	have := &c.user.X87
	if [fxMXCSR]byte(have[:]) == [fxMXCSR]byte(fp) && [fxXMM - fxST]byte(have[fxST:]) == [fxXMM - fxST]byte(fp[fxST:]) &&
		bytes.Equal(have[xUpper:], fp[xUpper:]) {
		return
	}
	copy(have[:fxMXCSR], fp)
	copy(have[fxST:fxXMM], fp[fxST:])
	copy(have[xHeader:], fp[xHeader:])
	c.x87 = 0
}

// valid reports whether FXRSTOR or XRSTOR would take state. XRSTOR reads no more of its header.
func valid(state []byte) bool {
	if len(state) != fxSize && len(state) != FPSize() || binary.LittleEndian.Uint32(state[fxMXCSR:]) > mxcsrMax {
		return false
	}
	if len(state) == fxSize {
		return true
	}
	header := state[xHeader:]
	return binary.LittleEndian.Uint64(header)&^components == 0 &&
		binary.LittleEndian.Uint64(header[8:]) == 0 && binary.LittleEndian.Uint64(header[16:]) == 0
}

// initial is the state with which a program begins.
var initial = func() (state [xSize]byte) {
	binary.LittleEndian.PutUint16(state[fxFCW:], amd64.FCW)
	binary.LittleEndian.PutUint32(state[fxMXCSR:], amd64.MXCSR)
	return state
}()

// ResetFP sets c's floating-point state to that of New.
//
// Context: as Clone.
func (c *Context) ResetFP() {
	c.user.Live, c.x87 = 0, 0
	if avx {
		clear(c.user.X87[xHeader : xHeader+8]) // XRSTOR then takes none of it: see saveLazy
	} else {
		c.user.X87 = initial
	}
	binary.LittleEndian.PutUint32(c.fx[fxMXCSR:], amd64.MXCSR)
	clear(c.fx[fxXMM : fxXMM+16*16])
}
