package handoff

// Drawable reports whether the kernel can draw on f: characters, or pixels of 15 to 32 bits with
// three colour fields.
func (f *Framebuffer) Drawable() bool {
	const most = 1 << 15 // of any size
	if f.Width == 0 || f.Height == 0 || f.Width > most || f.Height > most || f.Pitch > 8*most {
		return false
	}
	bytes := uint32(2)
	switch f.Kind {
	case Text:
	case Pixels:
		bytes = (uint32(f.Bits) + 7) / 8
		if f.Bits < 15 || f.Bits > 32 || !f.Red.within(f.Bits) || !f.Green.within(f.Bits) || !f.Blue.within(f.Bits) {
			return false
		}
	default:
		return false
	}
	return f.Pitch >= bytes*f.Width
}

// within reports whether a pixel of n bits has the field.
func (c Field) within(n uint8) bool { return c.Bits > 0 && c.Bits <= n && c.At <= n-c.Bits }
