package lang

import (
	"fmt"
	"strings"
)

// Piece is a part of a format: text, or how a value is printed.
type Piece struct {
	Text string // as it was written; of text, what is printed
	Go   string // the flags and widths, as package fmt takes them; "" for text
	Verb byte   // d u i x X o p c s r; 0: text
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
		if w := strings.FieldsFunc(format[1:1+flags], func(r rune) bool { return r < '0' || r > '9' }); len(w) > 0 && len(strings.TrimLeft(w[0], "0")) > 3 {
			return nil, fmt.Sprintf("the width in %q is too large", format[:end+1])
		}
		pieces = append(pieces, Piece{Text: format[:end+1], Go: "%" + format[1:1+flags], Verb: format[end]})
		format = format[end+1:]
	}
	return pieces, ""
}

// takes tells whether a value of a type can be printed so.
func (p Piece) takes(t Type) bool {
	switch p.Verb {
	case 's':
		return t.Kind == String || t.Kind == StackID || t.Kind == Symbol || t.Kind == ProbeID || t.Kind == TimeText || t.Kind == TupleOf
	case 'r':
		return t.Kind == String || t.Kind == Bytes
	}
	return t.isInt() || t.Kind == Symbol
}
