package printk

// Trap context. The verbs, one function per kind of argument.

import "unicode/utf8"

const (
	lowerDigits = "0123456789abcdef"
	upperDigits = "0123456789ABCDEF"
)

func (l *line) boolean(v bool, sp spec) {
	switch {
	case sp.verb != 't' && sp.verb != 'v':
		l.bad(sp)
	case v:
		l.padded("true", sp)
	default:
		l.padded("false", sp)
	}
}

// pointer writes an address; any number verb will do as well.
func (l *line) pointer(v uint64, sp spec) {
	switch sp.verb {
	case 'p', 'v':
		sp.hash, sp.verb = !(sp.verb == 'p' && sp.hash), 'x'
	}
	l.integerArg(v, false, sp)
}

func (l *line) integerArg(v uint64, negative bool, sp spec) {
	switch sp.verb {
	case 'i', 'u', 'v':
		sp.verb = 'd'
		l.integer(v, negative, sp)
	case 'd', 'x', 'X', 'o', 'b':
		l.integer(v, negative, sp)
	case 'p':
		l.pointer(v, sp)
	case 'c':
		r := utf8.RuneError
		if !negative && v <= utf8.MaxRune {
			r = rune(v)
		}
		var tmp [utf8.UTFMax]byte
		n := utf8.EncodeRune(tmp[:], r)
		l.pad(sp, 1, true)
		l.bytes(tmp[:n])
		l.pad(sp, 1, false)
	default:
		l.bad(sp)
	}
}

// integer writes a number in the base of the verb. As in fmt, zero padding
// counts the sign but not the 0x.
func (l *line) integer(v uint64, negative bool, sp spec) {
	base, digits, prefix := baseOf(sp.verb)
	var tmp [64]byte
	i := len(tmp)
	for {
		i--
		tmp[i] = digits[v%base]
		if v /= base; v == 0 {
			break
		}
	}
	sign := 0
	if negative || sp.plus {
		sign = 1
	}
	if !sp.hash {
		prefix = ""
	}
	n := len(tmp) - i
	zeros := sp.prec - n
	if sp.prec < 0 && sp.zero {
		zeros = sp.width - sign - n
	}
	if zeros < 0 {
		zeros = 0
	}
	total := sign + len(prefix) + zeros + n
	l.pad(sp, total, true)
	if negative {
		l.byte('-')
	} else if sp.plus {
		l.byte('+')
	}
	l.string(prefix)
	l.repeat('0', zeros)
	l.bytes(tmp[i:])
	l.pad(sp, total, false)
}

// baseOf returns the base of a number verb, its digits, and its 0x.
func baseOf(verb byte) (base uint64, digits, prefix string) {
	switch verb {
	case 'x':
		return 16, lowerDigits, "0x"
	case 'X':
		return 16, upperDigits, "0X"
	case 'o':
		return 8, lowerDigits, "0"
	case 'b':
		return 2, lowerDigits, "0b"
	}
	return 10, lowerDigits, ""
}

// pad writes the spaces that a field of n characters lacks, before or after
// it, as the minus flag has it.
func (l *line) pad(sp spec, n int, before bool) {
	if before != sp.minus {
		l.repeat(' ', sp.width-n)
	}
}

func (l *line) padded(s string, sp spec) {
	n := utf8.RuneCountInString(s)
	l.pad(sp, n, true)
	l.string(s)
	l.pad(sp, n, false)
}

// text writes a string or byte slice.
func (l *line) text(s string, sp spec) {
	switch sp.verb {
	case 's', 'v':
		if sp.prec >= 0 && sp.prec < len(s) {
			s = s[:sp.prec]
		}
		l.padded(s, sp)
	case 'q':
		l.quoted(s)
	case 'x', 'X':
		digits := lowerDigits
		if sp.verb == 'X' {
			digits = upperDigits
		}
		for i := 0; i < len(s); i++ {
			l.byte(digits[s[i]>>4])
			l.byte(digits[s[i]&15])
		}
	default:
		l.bad(sp)
	}
}

// quoted writes s in double quotes; what is not plain text is escaped.
func (l *line) quoted(s string) {
	l.byte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			l.byte('\\')
			l.byte(c)
		case c == '\n':
			l.string(`\n`)
		case c == '\t':
			l.string(`\t`)
		case c == '\r':
			l.string(`\r`)
		case c < ' ' || c == 0x7f:
			l.string(`\x`)
			l.byte(lowerDigits[c>>4])
			l.byte(lowerDigits[c&15])
		default:
			l.byte(c)
		}
	}
	l.byte('"')
}
