package screen

// Trap context: the rows that have left the screen at its top, and looking at them.

// historySize is how many characters of them are kept: 2,000 rows of 128.
const historySize = 256 << 10

// history is a ring of rows.
type history struct {
	cells [historySize]byte
	added int // rows, ever
}

func (h *history) rows(cols int) int { return historySize / cols }

// add keeps a row.
func (h *history) add(row []byte) {
	copy(h.row(h.added, len(row)), row)
	h.added++
}

// row returns row i of all that were added, which must be one of the last that there is room for.
func (h *history) row(i, cols int) []byte {
	at := i % h.rows(cols) * cols
	return h.cells[at : at+cols]
}

// kept is how many rows there are to look at.
func (h *history) kept(cols int) int { return min(h.added, h.rows(cols)) }

// shown returns the character at x, y of what is looked at.
func (s *Screen) shown(x, y int) byte {
	if y -= s.back; y >= 0 {
		return s.cells[y*s.cols+x]
	}
	return s.history.row(s.history.added+y, s.cols)[x]
}

// look shows what was there so many rows before; 0 is the present.
func (s *Screen) look(back int) {
	back = min(max(back, 0), s.history.kept(s.cols))
	if back == s.back {
		return
	}
	s.back = back
	for y := range s.rows {
		for x := range s.cols {
			s.paint(x, y)
		}
	}
}
