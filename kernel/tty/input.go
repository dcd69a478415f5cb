package tty

import "sonde/kernel/poll"

// Input is what the device sends: what was typed.
//
// Context: goroutine, one at a time.
func (t *TTY) Input(p []byte) {
	t.locked(func() poll.Events {
		if t.hungUp {
			return 0
		}
		for _, c := range p {
			t.typed(c)
		}
		return poll.In | poll.Out // readers look; VSTART may let writers continue
	})
}

// What follows is called with mu held.

// typed takes one byte.
func (t *TTY) typed(c byte) {
	m := &t.termios
	if t.literal {
		t.literal = false
		t.accept(c)
		return
	}
	if m.Iflag&IXON != 0 && t.flow(c) {
		return
	}
	if m.Lflag&ISIG != 0 && t.signalled(c) {
		return
	}
	switch {
	case c == '\r' && m.Iflag&IGNCR != 0:
		return
	case c == '\r' && m.Iflag&ICRNL != 0:
		c = '\n'
		if m.Lflag&ICANON == 0 { // a newline here, but ^J when typed as such
			t.echoNewline()
			t.append(c)
			return
		}
	case c == '\n' && m.Iflag&INLCR != 0:
		c = '\r'
	}
	if m.Lflag&ICANON != 0 && t.edited(c) {
		return
	}
	t.accept(c)
}

// flow stops and starts output.
func (t *TTY) flow(c byte) bool {
	switch {
	case t.is(c, VSTART):
		t.stopped = false
	case t.is(c, VSTOP):
		t.stopped = true
	default:
		if t.stopped && t.termios.Iflag&IXANY != 0 {
			t.stopped = false
		}
		return false
	}
	return true
}

// signalled turns a byte into a signal.
func (t *TTY) signalled(c byte) bool {
	var s Signal
	switch {
	case t.is(c, VINTR):
		s = SIGINT
	case t.is(c, VQUIT):
		s = SIGQUIT
	case t.is(c, VSUSP):
		s = SIGTSTP
	default:
		return false
	}
	if t.termios.Lflag&NOFLSH == 0 {
		t.forget()
	}
	t.stopped = false
	t.echo(c)
	t.signals = append(t.signals, s)
	return true
}

// edited does what a byte means while a line is typed.
func (t *TTY) edited(c byte) bool {
	m := &t.termios
	switch extended := m.Lflag&IEXTEN != 0; {
	case t.is(c, VERASE):
		t.eraseLast()
	case t.is(c, VKILL):
		t.kill()
	case extended && t.is(c, VWERASE):
		t.eraseWord()
	case extended && t.is(c, VLNEXT):
		t.literal = true
		if m.Lflag&(ECHO|ECHOCTL) == ECHO|ECHOCTL {
			t.show([]byte("^\b"))
		}
	case extended && m.Lflag&ECHO != 0 && t.is(c, VREPRINT):
		t.echo(c)
		t.echoNewline()
		for _, c := range t.line {
			t.echo(c)
		}
	case t.is(c, VEOF):
		t.enter()
	case c == '\n':
		if m.Lflag&(ECHO|ECHONL) != 0 {
			t.put(c)
		}
		t.line = append(t.line, c)
		t.enter()
	case t.is(c, VEOL) || extended && t.is(c, VEOL2):
		t.echo(c)
		t.line = append(t.line, c)
		t.enter()
	default:
		return false
	}
	return true
}

// accept takes a byte as itself.
func (t *TTY) accept(c byte) {
	if t.termios.Lflag&ICANON == 0 {
		t.echo(c)
		t.append(c)
		return
	}
	if len(t.line) >= maxLine || t.ahead >= maxAhead {
		if t.termios.Iflag&IMAXBEL != 0 {
			t.show([]byte{'\a'})
		}
		return
	}
	if len(t.line) == 0 {
		t.start = t.column
	}
	t.line = append(t.line, c)
	t.echo(c)
}

// append gives a byte to readers in raw mode; if too much is there, it is lost.
func (t *TTY) append(c byte) {
	if t.ahead >= maxAhead {
		return
	}
	if len(t.lines) == 0 {
		t.lines = append(t.lines, nil)
	}
	last := len(t.lines) - 1
	t.lines[last] = append(t.lines[last], c)
	t.ahead++
}

// enter ends the line. If too many wait, it is lost: an end of the file has no byte that counts.
func (t *TTY) enter() {
	if len(t.lines) >= maxAhead {
		t.line = nil
		return
	}
	t.lines = append(t.lines, t.line)
	t.ahead += len(t.line)
	t.line = nil
}
