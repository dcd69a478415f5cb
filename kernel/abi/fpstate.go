package abi

// Sizes in bytes: of an FXSAVE image, of the header after it in an XSAVE image, of the latter, and
// of the magic word that ends it in a signal's frame.
const (
	FPSize      = 512
	XHeaderSize = 64
	XSize       = 832
	FPMagicSize = 4
)

// The magic words of an XSAVE image in a signal's frame.
const (
	FP_XSTATE_MAGIC1 = 0x46505853
	FP_XSTATE_MAGIC2 = 0x46505845
)

// XCR0 is which parts an XSAVE image has: those of the x87, SSE and AVX.
const (
	XCR0_AVX = 1 << 2
	XCR0     = 1<<0 | 1<<1 | XCR0_AVX
)

// FPFrame is struct _fpx_sw_bytes: what the end of an FXSAVE image says of what is after it.
type FPFrame struct {
	Magic      uint32 // FP_XSTATE_MAGIC1
	FrameSize  uint32 // of the image with its magic word
	Components uint64 // of XCR0
	Size       uint32 // of the image
}

// fpFrameAt is where in an FXSAVE image it is: in 48 bytes that are software's.
const fpFrameAt = 464

// Put writes f into an image, and clears the rest of the bytes that are software's.
func (f FPFrame) Put(image []byte) {
	b := image[fpFrameAt:FPSize]
	clear(b)
	put32(b, f.Magic)
	put32(b[4:], f.FrameSize)
	put64(b[8:], f.Components)
	put32(b[16:], f.Size)
}

// FPFrameOf reads what an image says.
func FPFrameOf(image []byte) FPFrame {
	b := image[fpFrameAt:FPSize]
	return FPFrame{Magic: get32(b), FrameSize: get32(b[4:]), Components: get64(b[8:]), Size: get32(b[16:])}
}
