package tty

import "unicode/utf8"

// What is here is called with mu held.

// show puts bytes onto the screen as they are, and keeps account of the column. What a master would
// lose is lost here: VREPRINT makes a whole line of one byte.
func (t *TTY) show(p []byte) {
	for _, c := range p {
		t.advance(c)
	}
	if t.master != nil && len(t.pending) >= 2*mostOutput {
		return
	}
	t.pending = append(t.pending, p...)
}

// advance moves the column as the byte moves the cursor.
func (t *TTY) advance(c byte) {
	switch {
	case c == '\r':
		t.column = 0
	case c == '\b':
		t.column = max(0, t.column-1)
	case c == '\t':
		t.column = t.column&^7 + 8
	case c == '\n':
		if t.termios.Oflag&(OPOST|ONLRET) == OPOST|ONLRET {
			t.column = 0
		}
	case c >= ' ' && c != 127 && (t.termios.Iflag&IUTF8 == 0 || utf8.RuneStart(c)):
		t.column++
	}
}

// put puts a byte of a program's onto the screen.
func (t *TTY) put(c byte) {
	flag := t.termios.Oflag
	if flag&OPOST == 0 {
		t.show([]byte{c})
		return
	}
	switch {
	case c == '\n' && flag&ONLCR != 0:
		t.show([]byte("\r\n"))
	case c == '\r' && flag&ONOCR != 0 && t.column == 0:
	case c == '\r' && flag&OCRNL != 0:
		t.show([]byte{'\n'})
	case c == '\t' && flag&XTABS == XTABS:
		t.show([]byte("        ")[t.column&7:])
	default:
		t.show([]byte{c})
	}
}

// echo shows what was typed, if it is to be seen: control characters as ^X, also a
// newline that ends no line.
func (t *TTY) echo(c byte) {
	switch flag := t.termios.Lflag; {
	case flag&ECHO == 0:
	case flag&ECHOCTL != 0 && c != '\t' && (c < ' ' || c == 127):
		t.show([]byte{'^', c ^ 0x40})
	default:
		t.put(c)
	}
}

// echoNewline shows a newline, if what was typed is to be seen.
func (t *TTY) echoNewline() {
	if t.termios.Lflag&ECHO != 0 {
		t.put('\n')
	}
}
