package line

import "strings"

// screen is the part of a terminal that the editor uses, to check what a person would see.
type screen struct {
	columns  int
	rows     [][]rune
	row, col int // col == columns: the next character wraps
}

func (s *screen) write(text string) {
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '\a':
		case '\r':
			s.col = 0
		case '\n':
			s.row, s.col = s.row+1, 0
		case escape:
			n := 0
			for i += 2; runes[i] >= '0' && runes[i] <= '9'; i++ {
				n = n*10 + int(runes[i]-'0')
			}
			s.control(runes[i], n)
		default:
			s.character(r)
		}
	}
}

func (s *screen) character(r rune) {
	if s.col == s.columns {
		s.row, s.col = s.row+1, 0
	}
	s.line()[s.col] = r
	s.col++
}

func (s *screen) control(final rune, n int) {
	switch final {
	case 'A':
		s.row = max(0, s.row-n)
	case 'B':
		s.row += n
	case 'C':
		s.col = min(s.columns-1, s.col+n)
	case 'K', 'J':
		for c := s.col; c < s.columns; c++ {
			s.line()[c] = ' '
		}
		if final == 'J' {
			s.rows = s.rows[:s.row+1]
		}
	}
}

// line returns the row of the cursor.
func (s *screen) line() []rune {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, []rune(strings.Repeat(" ", s.columns)))
	}
	return s.rows[s.row]
}

// text is all rows joined, without line breaks.
func (s *screen) text() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(string(row))
	}
	return strings.TrimRight(b.String(), " ")
}

func (s *screen) cursor() int { return s.col % s.columns }
