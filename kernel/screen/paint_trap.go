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

// A Picture has squares, of which each is dark or light.
type Picture interface {
	// Dark is asked in any context.
	Dark(x, y int) bool
}

const (
	quiet      = 4 // squares: the light margin that a reader of such pictures needs
	leastPixel = 2 // a square has so many pixels on each side at least
)

// Stamp draws p, which has size squares on each side, in the upper right corner, over the text there: as large as a third
// of the screen's width and half of its height allow. Nothing is drawn if that is too small, or if there are no pixels.
//
// Context: any; only on the way down.
func (s *Screen) Stamp(p Picture, size int) {
	scale := min(s.mode.Width/3, s.mode.Height/2) / (size + 2*quiet)
	var here byte
	if !s.on || s.mode.Text || scale < leastPixel || !s.begin(&here) {
		return
	}
	whole := size + 2*quiet
	left := s.mode.Width - scale*whole
	for y := range scale * whole {
		at := unsafe.Add(s.row(y), s.mode.Bytes*left)
		for x := range scale * whole {
			col, row := x/scale-quiet, y/scale-quiet
			ink := s.ink
			if min(col, row) >= 0 && max(col, row) < size && p.Dark(col, row) {
				ink = 0
			}
			s.pixel(unsafe.Add(at, s.mode.Bytes*x), ink)
		}
	}
	s.drawer.Store(0)
}
