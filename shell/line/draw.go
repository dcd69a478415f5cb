package line

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// put appends to the output of the next flush.
func (e *Editor) put(s string) { e.pending = append(e.pending, s...) }

// flush writes all that a key has changed on the screen in one piece. Errors of the terminal are
// noticed when reading from it.
func (e *Editor) flush() {
	if len(e.pending) > 0 {
		e.out.Write(e.pending)
		e.pending = e.pending[:0]
	}
}

// sequence puts a control sequence with a count, or nothing for 0.
func (e *Editor) sequence(n int, final string) {
	if n > 0 {
		e.put("\x1b[" + strconv.Itoa(n) + final)
	}
}

// column counts the columns from the beginning of the prompt to pos.
func (e *Editor) column(pos int) int {
	return utf8.RuneCountInString(e.prompt) + utf8.RuneCount(e.buf[:pos])
}

// insert inserts text at the cursor. At the end of the line it only echoes.
func (e *Editor) insert(text []byte) {
	if len(e.buf)+len(text) > maxLine {
		e.put("\a")
		return
	}
	atEnd := e.pos == len(e.buf)
	e.buf = slices.Insert(e.buf, e.pos, text...)
	e.pos += len(text)
	if !atEnd {
		e.draw()
		return
	}
	e.put(string(text))
	e.wrapped()
}

// cut removes text from the line, and keeps it for ^Y if keep is set.
func (e *Editor) cut(from, to int, keep bool) {
	if from == to {
		return
	}
	if keep {
		e.killed = append(e.killed[:0], e.buf[from:to]...)
	}
	atEnd := to == len(e.buf) && e.pos == to
	e.buf = slices.Delete(e.buf, from, to)
	if atEnd && e.column(to-(to-from))/e.Columns == e.row {
		e.place(from)
		e.put("\x1b[K")
		return
	}
	e.pos = from
	e.draw()
}

// wrapped handles a cursor at the end of a row. A terminal moves to the next row only when there is
// a character to write there; a space and a return make it move.
func (e *Editor) wrapped() {
	end := e.column(len(e.buf))
	if end > 0 && end%e.Columns == 0 {
		e.put(" \r")
	}
	e.row = end / e.Columns
}

// draw shows the line again, with the prompt.
func (e *Editor) draw() {
	e.sequence(e.row, "A")
	e.put("\r\x1b[J" + e.prompt + string(e.buf))
	e.wrapped()
	pos := e.pos
	e.pos = len(e.buf)
	e.place(pos)
}

// place moves the cursor to a position in the line.
func (e *Editor) place(pos int) {
	if pos == e.pos {
		return
	}
	e.pos = pos
	column := e.column(pos)
	row := column / e.Columns
	e.sequence(e.row-row, "A")
	e.sequence(row-e.row, "B")
	e.put("\r")
	e.sequence(column%e.Columns, "C")
	e.row = row
}
