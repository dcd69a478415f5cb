package screen

// Trap context: the only file that touches video memory, which it never reads.

import "unsafe"

const (
	glyphWidth, glyphHeight = 8, 16

	cursorHeight = 2    // rows of pixels
	firstGlyph   = ' '  // of the font
	textColour   = 0x07 // of the VGA: grey on black
	textCursor   = 0x70
)

// wipe makes everything black.
func (s *Screen) wipe() {
	if s.mode.Text {
		for i := range s.rows * s.cols {
			s.letter(i%s.cols, i/s.cols, ' ', textColour)
		}
		return
	}
	for y := range s.mode.Height {
		row := s.row(y)
		for x := range s.mode.Width {
			s.pixel(unsafe.Add(row, s.mode.Bytes*x), 0)
		}
	}
}

// row is where row y of the pixels begins.
// Safe because: whoever gave the Mode says that so many rows are there.
func (s *Screen) row(y int) unsafe.Pointer { return unsafe.Add(s.mode.Base, y*s.mode.Pitch) }

// paint shows the character of the grid at x, y.
func (s *Screen) paint(x, y int) {
	if x >= s.cols {
		return // the cursor, after the end of a row
	}
	c := max(s.shown(x, y), ' ')
	if s.mode.Text {
		s.letter(x, y, letterFor(c), textColour)
		return
	}
	glyph := &font[c-firstGlyph]
	for i, bits := range glyph {
		s.line(x, y*glyphHeight+i, bits)
	}
}

// cursor shows where the next character will be.
func (s *Screen) cursor() {
	if s.x >= s.cols {
		return
	}
	if s.mode.Text {
		s.letter(s.x, s.y, letterFor(s.cells[s.y*s.cols+s.x]), textCursor)
		return
	}
	for i := glyphHeight - cursorHeight; i < glyphHeight; i++ {
		s.line(s.x, s.y*glyphHeight+i, 0xff)
	}
}

// line draws 8 pixels, of which bit 7 is the left one.
func (s *Screen) line(x, y int, bits byte) {
	at := unsafe.Add(s.row(y), s.mode.Bytes*glyphWidth*x)
	for i := range glyphWidth {
		// All or nothing of the ink.
		s.pixel(unsafe.Add(at, s.mode.Bytes*i), s.ink&-uint32(bits>>(glyphWidth-1-i)&1))
	}
}

// pixel draws one.
func (s *Screen) pixel(at unsafe.Pointer, colour uint32) {
	switch s.mode.Bytes {
	case 4:
		*(*uint32)(at) = colour
	case 3:
		*(*uint16)(at) = uint16(colour)
		*(*uint8)(unsafe.Add(at, 2)) = uint8(colour >> 16)
	case 2:
		*(*uint16)(at) = uint16(colour)
	}
}

func (s *Screen) letter(x, y int, c, colour byte) {
	*(*uint16)(unsafe.Add(s.row(y), 2*x)) = uint16(colour)<<8 | uint16(c)
}
