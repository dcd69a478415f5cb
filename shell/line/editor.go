package line

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrInterrupted is what ReadLine returns when ^C is typed.
var ErrInterrupted = errors.New("line: interrupted")

// maxScreen is more rows or columns than any screen has.
const maxScreen = 10_000

// maxLine is the longest line in bytes; further characters are refused.
const maxLine = 4096

// Editor reads lines from one terminal.
//
// Context: goroutine; one call at a time.
type Editor struct {
	History *History
	Columns int // of the terminal; 80 by default

	// Resized, if not nil, is called with the size that the terminal reports; ^L asks for it.
	Resized func(rows, columns int)

	// Complete finds candidates, sorted, to replace line[start:pos]. nil means that there is no
	// completion.
	Complete func(line string, pos int) (start int, candidates []string)

	in      io.ByteReader
	out     io.Writer
	decoder decoder
	lastCR  bool // a LF that follows belongs to the CR before it
	killed  []byte

	// of the line being read:
	prompt  string
	buf     []byte
	pos     int     // of the cursor, in bytes
	row     int     // of the cursor, below the beginning of the prompt
	recall  int     // index into History of the line shown; its length for none
	draft   []byte  // the line before going up the history
	tabs    int     // TABs in a row
	search  *search // nil: no search is going on
	pending []byte  // output not yet written
}

// New returns an editor between the terminal's input and its output.
func New(in io.ByteReader, out io.Writer) *Editor {
	return &Editor{History: new(History), Columns: 80, in: in, out: out}
}

// ReadLine shows the prompt and returns the entered line, without its end. It does not add it to
// the history.
//
// Errors: io.EOF for ^D on an empty line or the end of the input, ErrInterrupted for ^C, and those
// of the input.
func (e *Editor) ReadLine(prompt string) (string, error) {
	e.prompt, e.buf, e.pos, e.row, e.tabs = prompt, e.buf[:0], 0, 0, 0
	e.recall, e.draft, e.search = len(e.History.lines), nil, nil
	e.put(prompt)
	for {
		e.flush()
		c, err := e.in.ReadByte()
		if err != nil {
			return "", err
		}
		k := e.decoder.feed(c)
		if k == ctrl('J') && e.lastCR {
			e.lastCR = false
			continue
		}
		e.lastCR = k == ctrl('M')
		done, err := e.handle(k)
		if done || err != nil {
			e.place(len(e.buf))
			if err == ErrInterrupted {
				e.put("^C")
			}
			e.put("\n")
			e.flush()
			return string(e.buf), err
		}
	}
}

// handle handles a key; done means that the line is entered.
func (e *Editor) handle(k key) (done bool, err error) {
	if e.search != nil && e.searchKey(k) {
		return false, nil
	}
	if k == ctrl('I') {
		e.tabs++
		e.complete()
		return false, nil
	}
	if k != keyNone {
		e.tabs = 0
	}
	switch k {
	case keyText:
		e.insert(e.decoder.text)
	case ctrl('M'), ctrl('J'):
		return true, nil
	case ctrl('C'):
		return false, ErrInterrupted
	case ctrl('D'):
		if len(e.buf) == 0 {
			return false, io.EOF
		}
		e.cut(e.pos, e.right(e.pos), false)
	case ctrl('L'):
		e.put("\x1b[H\x1b[2J")
		e.row = 0
		e.draw()
		if e.Resized != nil { // asks for the current size
			e.put("\x1b7\x1b[999;999H\x1b[6n\x1b8")
		}
	case keyCursor:
		e.resize()
	case ctrl('R'):
		e.startSearch()
	case ctrl('P'), keyUp:
		e.show(e.recall - 1)
	case ctrl('N'), keyDown:
		e.show(e.recall + 1)
	default:
		if !e.move(k) {
			e.edit(k)
		}
	}
	return false, nil
}

// resize takes the terminal's answer: the position of the cursor in the last corner.
func (e *Editor) resize() {
	row, col, _ := strings.Cut(string(e.decoder.params), ";")
	rows, err1 := strconv.Atoi(row)
	columns, err2 := strconv.Atoi(col)
	if e.Resized == nil || err1 != nil || err2 != nil || rows < 1 || columns < 1 || rows > maxScreen || columns > maxScreen {
		return
	}
	e.Resized(rows, columns)
	e.Columns = columns
	pos := e.pos
	e.row, e.pos = 0, pos // ^L has cleared the screen: the line begins in the first row
	e.put("\x1b[H\x1b[2J")
	e.draw()
}

// move moves the cursor, if the key does that.
func (e *Editor) move(k key) bool {
	switch k {
	case ctrl('A'), keyHome:
		e.place(0)
	case ctrl('E'), keyEnd:
		e.place(len(e.buf))
	case ctrl('B'), keyLeft:
		e.place(e.left(e.pos))
	case ctrl('F'), keyRight:
		e.place(e.right(e.pos))
	case keyWordLeft:
		e.place(e.wordLeft(e.pos, isWord))
	case keyWordRight:
		e.place(e.wordRight(e.pos))
	default:
		return false
	}
	return true
}

// edit removes text, or inserts removed text again. Unknown keys do nothing.
func (e *Editor) edit(k key) {
	switch k {
	case ctrl('H'), backspace:
		e.cut(e.left(e.pos), e.pos, false)
	case keyDelete:
		e.cut(e.pos, e.right(e.pos), false)
	case ctrl('K'):
		e.cut(e.pos, len(e.buf), true)
	case ctrl('U'):
		e.cut(0, e.pos, true)
	case ctrl('W'):
		e.cut(e.wordLeft(e.pos, isNotSpace), e.pos, true)
	case keyKillWordBack:
		e.cut(e.wordLeft(e.pos, isWord), e.pos, true)
	case keyKillWord:
		e.cut(e.pos, e.wordRight(e.pos), true)
	case ctrl('Y'):
		e.insert(e.killed)
	}
}

// show replaces the line by a line of the history.
func (e *Editor) show(i int) {
	lines := e.History.lines
	if i < 0 || i > len(lines) {
		return
	}
	if e.recall == len(lines) {
		e.draft = append([]byte(nil), e.buf...)
	}
	e.recall = i
	if i == len(lines) {
		e.buf = append(e.buf[:0], e.draft...)
	} else {
		e.buf = append(e.buf[:0], lines[i]...)
	}
	e.pos = len(e.buf)
	e.draw()
}

func (e *Editor) left(pos int) int {
	_, n := utf8.DecodeLastRune(e.buf[:pos])
	return pos - n
}

func (e *Editor) right(pos int) int {
	_, n := utf8.DecodeRune(e.buf[pos:])
	return pos + n
}

// wordLeft returns where the word before pos begins.
func (e *Editor) wordLeft(pos int, in func(byte) bool) int {
	for pos > 0 && !in(e.buf[pos-1]) {
		pos--
	}
	for pos > 0 && in(e.buf[pos-1]) {
		pos--
	}
	return pos
}

// wordRight returns where the word after pos ends.
func (e *Editor) wordRight(pos int) int {
	for pos < len(e.buf) && !isWord(e.buf[pos]) {
		pos++
	}
	for pos < len(e.buf) && isWord(e.buf[pos]) {
		pos++
	}
	return pos
}

func isNotSpace(c byte) bool { return c != ' ' }

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}
