package out

import (
	"fmt"
	"strings"
	"time"

	"sonde/trace/lang"
)

// when prints a time since boot by a format of strftime.
func (p *Printer) when(format string, since time.Duration) string {
	at := p.Started.Add(since)
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		if layout, ok := layouts[format[i]]; ok {
			b.WriteString(at.Format(layout))
		} else if format[i] == 'f' {
			fmt.Fprintf(&b, "%06d", at.Nanosecond()/1000)
		} else if format[i] == 's' {
			fmt.Fprint(&b, at.Unix())
		} else if format[i] == '%' {
			b.WriteByte('%')
		} else {
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}

var layouts = map[byte]string{'H': "15", 'M': "04", 'S': "05", 'Y': "2006", 'm': "01", 'd': "02", 'y': "06", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday",
	'T': "15:04:05", 'F': "2006-01-02", 'D': "01/02/06", 'I': "03", 'p': "PM", 'Z': "MST", 'z': "-0700", 'e': "_2", 'j': "002", 'R': "15:04"}

// format fills in a format of printf.
func (p *Printer) format(a *lang.Action, data []byte) string {
	var b strings.Builder
	args := a.Args
	for _, piece := range lang.CutFormat(a.Format) {
		if piece.Verb == 0 {
			b.WriteString(piece.Text)
			continue
		}
		t := args[0]
		b.WriteString(p.piece(piece, t, data))
		args, data = args[1:], data[t.Size():]
	}
	return b.String()
}

// piece prints a value by a part of a format.
func (p *Printer) piece(piece lang.Piece, t lang.Type, data []byte) string {
	switch piece.Verb {
	case 's':
		return fmt.Sprintf(piece.Go+"s", p.value(t, data))
	case 'r':
		switch data := content(t, data); piece.Hex {
		case 'x':
			return escaped(data, `\x%02x`, false)
		case 'h':
			return strings.TrimSuffix(escaped(data, "%02x ", false), " ")
		default:
			return escaped(data, `\x%02x`, true)
		}
	case 'c':
		return fmt.Sprintf(piece.Go+"s", string(data[:1]))
	case 'p':
		return fmt.Sprintf("%#x", word(data))
	}
	unused := 64 - piece.Bits
	n := word(data) << unused
	switch piece.Verb {
	case 'd', 'i':
		return fmt.Sprintf(piece.Go+"d", int64(n)>>unused)
	case 'u':
		return fmt.Sprintf(piece.Go+"d", n>>unused)
	}
	return fmt.Sprintf(piece.Go+string(piece.Verb), n>>unused)
}
