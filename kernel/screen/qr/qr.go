// Package qr makes QR codes of short texts where nothing can be allocated.
//
// The codes are of one kind: version 9, level L, bytes. Whatever they have in common is worked out by New; Encode
// puts the text's bits where they belong.
//
// Source: ISO/IEC 18004, "QR Code bar code symbology specification".
package qr

import (
	"rsc.io/qr/coding"
	"rsc.io/qr/gf256"
)

// Two blocks of bytes, each with its bytes for the correction of errors.
const (
	version   = 9
	blocks    = 2
	perBlock  = 116
	checks    = 30
	dataBytes = blocks * perBlock

	// MaxText is how many bytes a code has room for: its kind and the length take 12 bits, the end 4.
	MaxText = dataBytes - 2
	// Size is how many squares it has on each side.
	Size = 17 + 4*version
)

// A Code can be made to say something. One goroutine or trap uses it at a time.
type Code struct {
	plan  *coding.Plan
	check *gf256.RSEncoder
	bytes [blocks * (perBlock + checks)]byte // the data, and then the checks, in the order of the blocks
}

// New returns a code that says nothing yet.
func New() (*Code, error) {
	plan, err := coding.NewPlan(version, coding.L, 0)
	if err != nil {
		return nil, err
	}
	c := &Code{plan: plan, check: gf256.NewRSEncoder(coding.Field, checks)}
	c.Encode(nil) // the encoder takes its memory
	return c, nil
}

// Encode makes c say text, of which it takes the first MaxText bytes. It allocates nothing.
//
// Context: any.
func (c *Code) Encode(text []byte) {
	text = text[:min(len(text), MaxText)]
	const bytesFollow, padding = 0x4, "\xec\x11"
	n := len(text)
	data := c.bytes[:dataBytes]
	data[0] = bytesFollow<<4 | byte(n>>4)
	data[1] = byte(n << 4)
	for i, b := range text { // half a byte late
		data[i+1] |= b >> 4
		data[i+2] = b << 4
	}
	for i := n + 2; i < dataBytes; i++ {
		data[i] = padding[(i-n)%2]
	}
	for i := range blocks {
		c.check.ECC(data[i*perBlock:][:perBlock], c.bytes[dataBytes+i*checks:][:checks])
	}
}

// Dark reports whether the square in column x of row y is dark.
//
// Context: any.
func (c *Code) Dark(x, y int) bool {
	p := c.plan.Pixel[y][x]
	dark := p&coding.Black != 0
	if role := p.Role(); role == coding.Data || role == coding.Check {
		at := p.Offset()
		return dark != (c.bytes[at/8]<<(at%8)&0x80 != 0)
	}
	return dark
}
