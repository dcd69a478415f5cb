package lang

import (
	"math"
	"strconv"
	"strings"
)

// tokenKind is what a token is.
type tokenKind uint8

const (
	endOfText tokenKind = iota
	number
	text      // "…"
	word      // a name without a sign
	variable  // $name
	parameter // $1
	mapName   // @name
	sign      // an operator or a bracket
	filterEnd // the slash before the block of a probe
)

// token is a piece of a script.
type token struct {
	Span
	kind  tokenKind
	text  string // of a string: what it stands for; of a variable and a map: with the $ or @
	value uint64
}

func (t token) is(s string) bool { return (t.kind == sign || t.kind == word) && t.text == s }

// scanner cuts a script into tokens, as the parser asks for them: how a name is cut depends on where it
// stands.
type scanner struct {
	*Source
	at      int
	defines map[string]token // by #define
}

// signs are the operators and brackets, the longer ones first.
var signs = []string{"<<=", ">>=", "...", "->", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "<=", ">=", "==", "!=",
	"&&", "||", "..", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "=", "!", "~", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "#"}

// space skips blanks and comments.
func (s *scanner) space() {
	for s.at < len(s.Text) {
		rest := s.Text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "//") || s.at == 0 && strings.HasPrefix(rest, "#!"):
			line, _, _ := strings.Cut(rest, "\n")
			s.at += len(line)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				s.fail(Span{s.at, s.at + 2}, "this comment has no end")
			}
			s.at += end + 4
		default:
			return
		}
	}
}

// next returns the next token.
func (s *scanner) next() token {
	s.space()
	from := s.at
	if from == len(s.Text) {
		return token{Span: Span{from, from}}
	}
	switch c := s.Text[from]; {
	case isDigit(c):
		return s.number()
	case c == '"':
		return s.string()
	case isLetter(c):
		t := s.token(word, from)
		if d, ok := s.defines[t.text]; ok {
			d.Span = t.Span
			return d
		}
		return t
	case c == '@':
		s.at++
		return s.token(mapName, from)
	case c == '$' && from+1 < len(s.Text) && s.Text[from+1] == '#':
		s.at += 2
		return token{Span: Span{from, s.at}, kind: parameter, text: "$#"}
	case c == '$':
		s.at++
		t := s.token(variable, from)
		if len(t.text) == 1 {
			s.fail(t.Span, "a $ needs a name or a number after it")
		}
		if isDigit(t.text[1]) {
			return s.parameter(t)
		}
		return t
	}
	return s.sign()
}

// token ends a token after its last letter or digit.
func (s *scanner) token(kind tokenKind, from int) token {
	for s.at < len(s.Text) && (isLetter(s.Text[s.at]) || isDigit(s.Text[s.at])) {
		s.at++
	}
	return token{Span: Span{from, s.at}, kind: kind, text: s.Text[from:s.at]}
}

func (s *scanner) parameter(t token) token {
	n, err := strconv.ParseUint(t.text[1:], 10, 16)
	if err != nil || n == 0 {
		s.fail(t.Span, "%s is not an argument of the script: give $1 to $65535", t.text)
	}
	t.kind, t.value = parameter, n
	return t
}

func (s *scanner) sign() token {
	from, rest := s.at, s.Text[s.at:]
	if rest[0] == '/' && strings.HasPrefix(strings.TrimLeft(rest[1:], " \t\r\n"), "{") {
		s.at++
		return token{Span: Span{from, s.at}, kind: filterEnd, text: "/"}
	}
	for _, o := range signs {
		if strings.HasPrefix(rest, o) {
			s.at += len(o)
			return token{Span: Span{from, s.at}, kind: sign, text: o}
		}
	}
	s.fail(Span{from, from + 1}, "%q is not part of the language", rest[:1])
	return token{}
}

// units are what a number may be multiplied by: times in ns.
var units = map[string]uint64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9,
	"u": 1, "U": 1, "l": 1, "L": 1, "ul": 1, "UL": 1, "ll": 1, "LL": 1, "ull": 1, "ULL": 1}

// number reads decimal, 0x and 0 numbers, with _ between digits, 1e6, and units.
func (s *scanner) number() token {
	t := s.token(number, s.at)
	digits := strings.ReplaceAll(t.text, "_", "")
	cut := len(digits)
	if !strings.HasPrefix(digits, "0x") && !strings.HasPrefix(digits, "0X") {
		cut = len(digits) - len(strings.TrimLeft(digits, "0123456789"))
		if cut < len(digits)-1 && digits[cut] == 'e' && isDigit(digits[cut+1]) {
			cut += 1 + len(digits[cut+1:]) - len(strings.TrimLeft(digits[cut+1:], "0123456789"))
		}
	}
	value, ok := parseNumber(digits[:cut])
	unit, known := uint64(1), true
	if cut < len(digits) {
		unit, known = units[digits[cut:]]
	}
	switch {
	case !known:
		s.fail(t.Span, "%q is not a number: %q is none of the units ns, us, ms, s, m, h and d", t.text, digits[cut:])
	case !ok || value > math.MaxUint64/unit:
		s.fail(t.Span, "%q is not a number of 64 bits", t.text)
	}
	t.value = value * unit
	return t
}

func parseNumber(digits string) (uint64, bool) {
	base, power, scientific := strings.Cut(digits, "e")
	if strings.HasPrefix(digits, "0x") || !scientific {
		n, err := strconv.ParseUint(digits, 0, 64)
		return n, err == nil
	}
	n, err := strconv.ParseUint(base, 10, 64)
	e, bad := strconv.Atoi(power)
	if err != nil || bad != nil || e > 19 {
		return 0, false
	}
	for ; e > 0; e-- {
		if n > math.MaxUint64/10 {
			return 0, false
		}
		n *= 10
	}
	return n, true
}

// escapes are what a letter after a backslash stands for.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '"': '"', '\'': '\'', 'a': 7, 'b': 8, 'f': 12, 'v': 11, 'e': 27}

func (s *scanner) string() token {
	from := s.at
	var b strings.Builder
	for s.at++; ; {
		if s.at == len(s.Text) || s.Text[s.at] == '\n' {
			s.fail(Span{from, s.at}, "this string has no end")
		}
		c := s.Text[s.at]
		s.at++
		switch c {
		case '"':
			return token{Span: Span{from, s.at}, kind: text, text: b.String()}
		case '\\':
			b.WriteByte(s.escape())
		default:
			b.WriteByte(c)
		}
	}
}

// escape reads what stands after a backslash.
func (s *scanner) escape() byte {
	from, rest := s.at, s.Text[s.at:]
	if rest != "" {
		if c, ok := escapes[rest[0]]; ok {
			s.at++
			return c
		}
	}
	digits, base := rest[:min(3, len(rest))], 8
	if strings.HasPrefix(rest, "x") {
		s.at++
		digits, base = rest[1:min(3, len(rest))], 16
	}
	for ; digits != ""; digits = digits[:len(digits)-1] {
		if n, err := strconv.ParseUint(digits, base, 8); err == nil {
			s.at += len(digits)
			return byte(n)
		}
	}
	s.fail(Span{from - 1, min(s.at+1, len(s.Text))}, "a string has no such escape")
	return 0
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
