package tty

import "unicode/utf8"

// Taking back what was typed, in the line and on the screen. What an empty line loses
// is not shown. All is called with mu held.

// eraseLast takes back the last character.
func (t *TTY) eraseLast() {
	if len(t.line) == 0 {
		return
	}
	c := t.shorten()
	if t.termios.Lflag&ECHOE == 0 {
		t.echo(t.termios.CC[VERASE])
		return
	}
	t.wipe(c)
}

// eraseWord takes back the last word and what is after it.
func (t *TTY) eraseWord() {
	for inWord := false; len(t.line) > 0; {
		word := inWords(t.last())
		if inWord && !word {
			return
		}
		inWord = inWord || word
		t.wipe(t.shorten())
	}
}

// inWords reports whether c is a letter, digit or underscore; letters are Latin-1's, as
// in Linux, so the first byte of a character in UTF-8 is nearly always one.
func inWords(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'z', c == '_', c == 0xaa, c == 0xb5, c == 0xba:
		return true
	}
	return c >= 0xc0 && c != 0xd7 && c != 0xf7
}

// kill takes back the line.
func (t *TTY) kill() {
	m := &t.termios
	if len(t.line) == 0 {
		return
	}
	const visibly = ECHO | ECHOE | ECHOK | ECHOKE
	if m.Lflag&visibly != visibly {
		t.line = nil
		t.echo(m.CC[VKILL])
		if m.Lflag&ECHOK != 0 {
			t.echoNewline()
		}
		return
	}
	for len(t.line) > 0 {
		t.wipe(t.shorten())
	}
}

// last returns the first byte of the last character.
func (t *TTY) last() byte { return t.line[len(t.line)-t.lastSize()] }

// lastSize is how many bytes the last character of the line has.
func (t *TTY) lastSize() int {
	if t.termios.Iflag&IUTF8 == 0 {
		return 1
	}
	n := 1
	for n < len(t.line) && !utf8.RuneStart(t.line[len(t.line)-n]) {
		n++
	}
	return n
}

// shorten takes the last character off the line and returns its first byte.
func (t *TTY) shorten() byte {
	c := t.last()
	t.line = t.line[:len(t.line)-t.lastSize()]
	return c
}

// wipe takes the character that begins with c, and stood after the line, off the
// screen.
func (t *TTY) wipe(c byte) {
	m := &t.termios
	switch {
	case m.Lflag&ECHO == 0:
	case c == '\t':
		t.show([]byte("\b\b\b\b\b\b\b\b")[t.end()&7:])
	case c < ' ' || c == 127:
		if m.Lflag&ECHOCTL != 0 {
			t.show([]byte("\b \b\b \b"))
		}
	default:
		t.show([]byte("\b \b"))
	}
}

// end returns the column where the line ends.
func (t *TTY) end() int {
	end := t.start
	for _, c := range t.line {
		switch {
		case c == '\t':
			end = end&^7 + 8
		case c < ' ' || c == 127:
			if t.termios.Lflag&ECHOCTL != 0 {
				end += 2
			}
		case t.termios.Iflag&IUTF8 == 0 || utf8.RuneStart(c):
			end++
		}
	}
	return end
}
