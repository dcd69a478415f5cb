// Package keyboard translates a PC keyboard's codes into what a terminal sends.
//
// The codes are those of set 1: the controller of a PS/2 keyboard translates to it, and so do
// firmware and kernel/usb for USB keyboards.
//
// Source: IBM Personal System/2 Hardware Interface Technical Reference, "Keyboard (101-
// and 102-key)"; the sequences of keys without a character are those of ECMA-48 and xterm.
package keyboard

import (
	"syscall"

	"sonde/kernel/refusal"
)

// Keyboard is what is held down on one, and its layout. The zero Keyboard has none.
type Keyboard struct {
	layout             layout
	shift, ctrl, right bool // right is the Alt key there, which a layout may use
	caps               bool
	prefixed           bool // the last code was 0xe0
}

// Codes that are no characters.
const (
	prefix     = 0xe0
	released   = 0x80
	ctrlKey    = 0x1d
	leftShift  = 0x2a
	rightShift = 0x36
	altKey     = 0x38
	capsLock   = 0x3a
	pageUp     = 0x49 // after a prefix
	pageDown   = 0x51
)

// What Shift with PgUp and PgDn types, by which a console scrolls.
const (
	ScrollUp   = "\x1b[5;2~"
	ScrollDown = "\x1b[6;2~"
)

// special is what keys after a prefix send.
var special = [keys]string{
	0x1c: "\r", 0x35: "/",
	0x48: "\x1b[A", 0x50: "\x1b[B", 0x4d: "\x1b[C", 0x4b: "\x1b[D",
	0x47: "\x1b[H", 0x4f: "\x1b[F", 0x52: "\x1b[2~", 0x53: "\x1b[3~", 0x49: "\x1b[5~", 0x51: "\x1b[6~",
}

// SetLayout chooses a layout by its name.
//
// Errors: EINVAL.
func (k *Keyboard) SetLayout(name string) error {
	for i := range layouts {
		if layouts[i].name == name {
			k.layout = layouts[i].layout()
			return nil
		}
	}
	return refusal.New(syscall.EINVAL, "there is no layout %q (known: %s)", name, names())
}

// Code takes the next code from the keyboard and returns what that types.
func (k *Keyboard) Code(code byte) string {
	if code == prefix {
		k.prefixed = true
		return ""
	}
	prefixed := k.prefixed
	k.prefixed = false
	down := code&released == 0
	switch key := code &^ released; {
	case key == ctrlKey:
		k.ctrl = down
	case key == altKey && prefixed:
		k.right = down
	case (key == leftShift || key == rightShift) && !prefixed:
		k.shift = down
	case !down:
	case prefixed && k.shift && key == pageUp:
		return ScrollUp
	case prefixed && k.shift && key == pageDown:
		return ScrollDown
	case prefixed && key < keys:
		return special[key]
	case key == capsLock:
		k.caps = !k.caps
	default:
		return k.character(key)
	}
	return ""
}

// Caps reports whether Caps Lock is on.
func (k *Keyboard) Caps() bool { return k.caps }

// character is what the key types with what is held down.
func (k *Keyboard) character(key byte) string {
	if key >= keys {
		return ""
	}
	l := &k.layout
	c := l.plain[key]
	switch {
	case k.right && l.right[key] != 0:
		c = l.right[key]
	case k.shift != (k.caps && isLetter(c)):
		c = l.shifted[key]
	}
	switch {
	case c == 0:
		return keypad[key]
	case k.ctrl && (c >= '@' && c < 0x80):
		return string(c & 0x1f)
	case k.ctrl && c == ' ':
		return "\x00"
	}
	return string(c)
}

func isLetter(c rune) bool { return c >= 'a' && c <= 'z' || c >= 0xe0 && c <= 0xfe }

// keypad is what keys send whose characters are no layout's.
var keypad = [keys]string{
	0x37: "*", 0x47: "7", 0x48: "8", 0x49: "9", 0x4a: "-", 0x4b: "4", 0x4c: "5", 0x4d: "6", 0x4e: "+",
	0x4f: "1", 0x50: "2", 0x51: "3", 0x52: "0", 0x53: ".",
}
