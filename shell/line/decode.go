package line

import "unicode/utf8"

// key is the meaning of one or more bytes from the terminal: a control character, or one of the
// constants below.
type key int

const (
	keyNone key = -iota - 1 // nothing yet, or unknown
	keyText                 // a character to insert
	keyUp
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyDelete
	keyWordLeft
	keyWordRight
	keyKillWord
	keyKillWordBack
	keyCursor // an answer: d.params is the position of the cursor
)

// ctrl is the key of a letter with Ctrl held.
func ctrl(letter byte) key { return key(letter & 0x1f) }

const (
	escape    = 0x1b
	backspace = 0x7f
)

// decoder turns bytes into keys.
type decoder struct {
	step   func(*decoder, byte) key
	params []byte // of a control sequence, so far
	text   []byte // of a character, complete or not
}

// feed takes the next byte. After keyText, d.text is the character.
func (d *decoder) feed(c byte) key {
	if d.step == nil {
		d.step = (*decoder).ground
	}
	return d.step(d, c)
}

// ground is the state between keys.
func (d *decoder) ground(c byte) key {
	d.step = (*decoder).ground
	switch {
	case c == escape:
		d.step = (*decoder).escaped
		return keyNone
	case c < ' ' || c == backspace:
		return key(c)
	}
	d.text = append(d.text[:0], c)
	return d.character()
}

// character ends the state if the text is a whole character, or can never become one.
func (d *decoder) character() key {
	if !utf8.FullRune(d.text) {
		d.step = (*decoder).continued
		return keyNone
	}
	d.step = (*decoder).ground
	return keyText
}

// continued is the state inside a character of several bytes. A byte that cannot belong to it
// begins another character; the broken one is dropped.
func (d *decoder) continued(c byte) key {
	if c < 0x80 || c >= 0xc0 {
		return d.ground(c)
	}
	d.text = append(d.text, c)
	return d.character()
}

// escaped is the state after an escape.
func (d *decoder) escaped(c byte) key {
	d.step = (*decoder).ground
	switch c {
	case '[':
		d.params = d.params[:0]
		d.step = (*decoder).sequence
		return keyNone
	case 'O':
		d.step = (*decoder).application
		return keyNone
	case 'b':
		return keyWordLeft
	case 'f':
		return keyWordRight
	case 'd':
		return keyKillWord
	case backspace, 8:
		return keyKillWordBack
	}
	return d.ground(c)
}

// application is the state after ESC O, which terminals in application mode send.
func (d *decoder) application(c byte) key {
	d.step = (*decoder).ground
	if c < ' ' {
		return d.ground(c)
	}
	return final(c, nil)
}

// sequence is the state after ESC [: parameters up to a final byte. ESC [ [ x is what the Linux
// console sends for function keys.
func (d *decoder) sequence(c byte) key {
	switch {
	case c < ' ' || c >= backspace:
		return d.ground(c)
	case c < 0x40:
		if len(d.params) < 16 {
			d.params = append(d.params, c)
		}
		return keyNone
	case c == '[' && len(d.params) == 0:
		d.step = func(d *decoder, c byte) key {
			d.step = (*decoder).ground
			return keyNone
		}
		return keyNone
	}
	d.step = (*decoder).ground
	return final(c, d.params)
}

// final is the key for a sequence with that last byte.
func final(c byte, params []byte) key {
	switch p := string(params); {
	case c == 'A':
		return keyUp
	case c == 'B':
		return keyDown
	case c == 'C' && (p == "1;5" || p == "1;3"):
		return keyWordRight
	case c == 'D' && (p == "1;5" || p == "1;3"):
		return keyWordLeft
	case c == 'C':
		return keyRight
	case c == 'D':
		return keyLeft
	case c == 'H' || c == '~' && (p == "1" || p == "7"):
		return keyHome
	case c == 'F' || c == '~' && (p == "4" || p == "8"):
		return keyEnd
	case c == 'R' && len(p) > 2:
		return keyCursor
	case c == '~' && p == "3":
		return keyDelete
	}
	return keyNone
}
