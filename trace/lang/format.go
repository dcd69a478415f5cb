package lang

import (
	"fmt"
	"slices"
	"strings"
)

// Piece is a part of a format: text, or how a value is printed.
type Piece struct {
	Text string // as it was written; of text, what is printed
	Go   string // the flags and widths, as package fmt takes them; "" for text
	Verb byte   // d u i x X o p c s r; 0: text
	Bits int    // of d u i x X o: how many of the number's are printed
	Hex  byte   // of r: x all bytes as \\xNN, h with blanks between them; 0: what can be printed as it is
}

// CutFormat cuts a format that Compile has accepted.
func CutFormat(format string) []Piece {
	pieces, _ := cutFormat(format)
	return pieces
}

// cutFormat cuts a format. why is what is wrong with it.
func cutFormat(format string) (pieces []Piece, why string) {
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			return append(pieces, Piece{Text: format}), ""
		}
		if at > 0 {
			pieces, format = append(pieces, Piece{Text: format[:at]}), format[at:]
		}
		if strings.HasPrefix(format, "%%") {
			pieces, format = append(pieces, Piece{Text: "%"}), format[2:]
			continue
		}
		flags := len(format) - 1 - len(strings.TrimLeft(format[1:], "-+ #0123456789."))
		size := len(format) - 1 - flags - len(strings.TrimLeft(format[1+flags:], "hlzjt"))
		end := 1 + flags + size
		if end >= len(format) || strings.IndexByte("duixXopcsr", format[end]) < 0 {
			return nil, fmt.Sprintf("the format %q is not known", format[:min(end+1, len(format))])
		}
		if strings.Count(format[1:1+flags], ".") > 1 {
			return nil, fmt.Sprintf("the format %q is not known", format[:end+1])
		}
		widths := strings.FieldsFunc(format[1:1+flags], func(r rune) bool { return r < '0' || r > '9' })
		if slices.ContainsFunc(widths, func(w string) bool { return len(strings.TrimLeft(w, "0")) > 3 }) {
			return nil, fmt.Sprintf("the width in %q is too large", format[:end+1])
		}
		p := Piece{Text: format[:end+1], Go: "%" + format[1:1+flags], Verb: format[end], Bits: bits(format[end], format[1+flags:end])}
		if format = format[end+1:]; p.Verb == 'r' && format != "" && (format[0] == 'x' || format[0] == 'h') {
			p.Hex, format = format[0], format[1:]
		}
		pieces = append(pieces, p)
	}
	return pieces, ""
}

// bits is how much of a number is printed: as in C, but %d and %u print all of it.
func bits(verb byte, size string) int {
	switch {
	case size == "hh":
		return 8
	case size == "h":
		return 16
	case size == "" && strings.IndexByte("xXo", verb) >= 0:
		return 32
	}
	return 64
}

// takes tells whether a value of a type can be printed so.
func (p Piece) takes(t Type) bool {
	switch p.Verb {
	case 's':
		held := t.Kind == Pointer && t.Format != "" // by an interface
		return !t.isInt() || t.Enum != nil || t.Kind == Bool || held
	case 'r':
		return t.Kind == Bytes
	}
	return t.isInt() || t.Kind == Symbol
}
