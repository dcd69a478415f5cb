package out

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sonde/trace/lang"
)

// asJSON is a value that is a number as it is, and everything else as a string.
func (p *Printer) asJSON(t lang.Type, text string) string {
	if t.Kind == lang.Int || t.Kind == lang.Bool {
		return text
	}
	return quote(text)
}

// quote makes a string of JSON. encoding/json is too large for the kernel.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7F:
			b.WriteString(`\u00` + strconv.FormatInt(int64(r)>>4, 16) + strconv.FormatInt(int64(r)&15, 16))
		default:
			b.WriteRune(r) // what is not UTF-8 is utf8.RuneError
		}
	}
	b.WriteByte('"')
	return strings.ToValidUTF8(b.String(), string(utf8.RuneError))
}
