package screen

// Trap context: the grid of characters, and what control characters do to it.

const tab = 8

// put shows a byte or does what it says.
func (s *Screen) put(c byte) {
	if c >= firstBetween && !s.sequence.active() {
		if cell, done := s.utf8.add(c); done {
			s.show(cell)
		}
		return
	}
	if s.utf8.left > 0 { // its end is missing
		s.utf8.left = 0
		s.show('?')
	}
	switch {
	case s.sequence.active():
		s.sequence.add(s, c)
	case c == esc:
		s.sequence.begin()
	case c == '\n':
		s.down()
	case c == '\r':
		s.x = 0
	case c == '\b':
		s.x = max(min(s.x, s.cols-1)-1, 0)
	case c == '\t':
		s.x = min((s.x/tab+1)*tab, s.cols-1)
	case c < ' ', c == 0x7f:
	default:
		s.show(c)
	}
}

// show puts a character at the cursor.
func (s *Screen) show(c byte) {
	if s.x >= s.cols {
		s.x = 0
		s.down()
	}
	s.set(s.x, s.y, c)
	s.x++
}

// down goes to the next row, which is made if there is none.
func (s *Screen) down() {
	if s.y+1 < s.rows {
		s.y++
		return
	}
	s.history.add(s.cells[:s.cols])
	for y := range s.rows {
		for x := range s.cols {
			c := byte(0)
			if y+1 < s.rows {
				c = s.cells[(y+1)*s.cols+x]
			}
			s.set(x, y, c)
		}
	}
}

// set changes a character of the grid, and the screen if that differs.
func (s *Screen) set(x, y int, c byte) {
	if c == ' ' {
		c = 0
	}
	if at := &s.cells[y*s.cols+x]; *at != c {
		*at = c
		s.paint(x, y)
	}
}

// erase blanks the characters from number from to number to of the grid.
func (s *Screen) erase(from, to int) {
	for i := from; i < to; i++ {
		s.set(i%s.cols, i/s.cols, 0)
	}
}

const esc = 0x1b

// sequence is an escape sequence that has begun: ESC [ number ; number letter.
type sequence struct {
	step    uint8 // 0: none; 1: ESC has been read; 2: the bracket, too
	numbers [2]int
	n       int // of the number that is being read
}

func (q *sequence) active() bool { return q.step > 0 }
func (q *sequence) begin()       { *q = sequence{step: 1} }

// add reads the next byte, and does what the sequence says when that ends it.
func (q *sequence) add(s *Screen, c byte) {
	const most = 9999
	switch {
	case q.step == 1 && c == '[':
		q.step = 2
	case q.step == 1:
		q.step = 0 // none that we know
	case c >= '0' && c <= '9' && q.n < len(q.numbers):
		q.numbers[q.n] = min(q.numbers[q.n]*10+int(c-'0'), most)
	case c == ';':
		q.n++
	case c >= '@' && c <= '~':
		q.step = 0
		s.control(c, q.numbers[0], q.numbers[1])
	}
}

// control does what the sequence with this final byte says.
func (s *Screen) control(final byte, a, b int) {
	at := func() int { return s.y*s.cols + min(s.x, s.cols-1) }
	switch final {
	case 'A':
		s.y = max(s.y-max(a, 1), 0)
	case 'B':
		s.y = min(s.y+max(a, 1), s.rows-1)
	case 'C':
		s.x = min(s.x+max(a, 1), s.cols-1)
	case 'D':
		s.x = max(min(s.x, s.cols-1)-max(a, 1), 0)
	case 'H', 'f':
		s.y, s.x = min(max(a, 1), s.rows)-1, min(max(b, 1), s.cols)-1
	case 'J':
		switch a {
		case 0:
			s.erase(at(), s.rows*s.cols)
		case 1:
			s.erase(0, at()+1)
		default:
			s.erase(0, s.rows*s.cols)
		}
	case 'K':
		switch a {
		case 0:
			s.erase(at(), (s.y+1)*s.cols)
		case 1:
			s.erase(s.y*s.cols, at()+1)
		default:
			s.erase(s.y*s.cols, (s.y+1)*s.cols)
		}
	}
}
