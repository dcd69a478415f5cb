package printk

// Trap context. Messages are formatted where they are logged; nothing is
// allocated and no method of an argument is called.

// line collects formatted text in a fixed buffer; what does not fit is cut.
type line struct {
	b   []byte
	n   int
	cut bool
}

func (l *line) byte(c byte) {
	if l.n >= len(l.b) {
		l.cut = true
		return
	}
	l.b[l.n] = c
	l.n++
}

func (l *line) string(s string) {
	n := copy(l.b[l.n:], s)
	l.n += n
	l.cut = l.cut || n < len(s)
}

func (l *line) bytes(p []byte) {
	n := copy(l.b[l.n:], p)
	l.n += n
	l.cut = l.cut || n < len(p)
}

func (l *line) repeat(c byte, n int) {
	for ; n > 0 && !l.cut; n-- {
		l.byte(c)
	}
}

// finish takes trailing newlines off, and marks a text that was cut.
func (l *line) finish() {
	if l.cut && l.n >= 3 {
		l.b[l.n-3], l.b[l.n-2], l.b[l.n-1] = '.', '.', '.'
	}
	for l.n > 0 && l.b[l.n-1] == '\n' {
		l.n--
	}
}

// stamp writes a time as Linux does: "[    1.234567] ".
func (l *line) stamp(ns int64) {
	if ns < 0 {
		ns = 0
	}
	us := uint64(ns) / 1000
	l.byte('[')
	l.integer(us/1000000, false, spec{verb: 'd', width: 5, prec: -1})
	l.byte('.')
	l.integer(us%1000000, false, spec{verb: 'd', width: 6, prec: -1, zero: true})
	l.string("] ")
}

// spec is one parsed verb with its flags; prec is -1 when not given.
type spec struct {
	verb                    byte
	minus, plus, hash, zero bool
	width, prec             int
}

// format writes the format with its arguments put in, by the rules of fmt as
// far as they reach here.
func (l *line) format(format string, args []any) {
	used := 0
	for i := 0; i < len(format); {
		if format[i] != '%' {
			l.byte(format[i])
			i++
			continue
		}
		var sp spec
		sp, i = parseSpec(format, i+1)
		switch {
		case sp.verb == 0:
			l.string("%!(NOVERB)")
		case sp.verb == '%':
			l.byte('%')
		case used >= len(args):
			l.string("%!")
			l.byte(sp.verb)
			l.string("(MISSING)")
		default:
			l.arg(&args[used], sp)
			used++
		}
	}
	if used < len(args) {
		l.string("%!(EXTRA)")
	}
}

// parseSpec reads flags, width, precision and verb from format[i:]. The
// length letters of C are accepted and mean nothing.
func parseSpec(format string, i int) (spec, int) {
	sp := spec{prec: -1}
flags:
	for ; i < len(format); i++ {
		switch format[i] {
		case '-':
			sp.minus = true
		case '+':
			sp.plus = true
		case '#':
			sp.hash = true
		case '0':
			sp.zero = true
		default:
			break flags
		}
	}
	sp.width, i = number(format, i)
	if i < len(format) && format[i] == '.' {
		sp.prec, i = number(format, i+1)
	}
	for i < len(format) && (format[i] == 'l' || format[i] == 'h' || format[i] == 'z') {
		i++
	}
	if i < len(format) {
		sp.verb = format[i]
		i++
	}
	sp.zero = sp.zero && !sp.minus
	return sp, i
}

// number reads a decimal number, at most maxText.
func number(s string, i int) (int, int) {
	n := 0
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		if n = n*10 + int(s[i]-'0'); n > maxText {
			n = maxText
		}
	}
	return n, i
}

// bad marks an argument that the verb cannot print.
func (l *line) bad(sp spec) {
	l.string("%!")
	l.byte(sp.verb)
	l.string("(?)")
}
