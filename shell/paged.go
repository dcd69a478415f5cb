package shell

import (
	"io"
	"unicode/utf8"
)

// Paged shows text page by page to someone without a keyboard: it waits after each page.
type Paged struct {
	Out           io.Writer
	Rows, Columns int    // of a page, which has one row less than the screen
	Wait          func() // called when a page is full

	used, column int
}

// Write implements io.Writer.
func (p *Paged) Write(text []byte) (n int, err error) {
	for len(text) > 0 {
		line := text[:p.line(text)]
		text = text[len(line):]
		written, err := p.Out.Write(line)
		if n += written; err != nil {
			return n, err
		}
		if p.used >= p.Rows {
			p.used = 0
			p.Wait()
		}
	}
	return n, nil
}

// line returns how much of text fits the rest of the current row, and counts that row if it is
// full.
func (p *Paged) line(text []byte) (n int) {
	for n < len(text) {
		switch {
		case text[n] == '\n':
			p.column = 0
			p.used++
			return n + 1
		case p.column == p.Columns:
			p.column = 0
			p.used++
			return n
		}
		_, size := utf8.DecodeRune(text[n:])
		n, p.column = n+size, p.column+1
	}
	return n
}
