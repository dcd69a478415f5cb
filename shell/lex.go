package shell

import (
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// token is a word, or an operator when op is set.
type token struct {
	text     string
	op       bool
	line     int
	from, to int // its position in the script
}

// statusMark represents $? in a word until the word is used, lastMark $!; clean removes both from
// the input.
const (
	statusMark = '\x00'
	lastMark   = '\x01'
)

// operators, longer ones first. Those with a digit only begin where a word could.
var operators = []string{"2>&1", "2>>", "2>", ">&2", "&&", "||", ">>", ">", "<", "|", "&", ";", "\n"}

// lexer splits a script into tokens.
type lexer struct {
	in     string
	pos    int
	line   int
	word   strings.Builder
	inWord bool // "" is a word too
	from   int  // where the word begins
	tokens []token
}

// clean prepares a script for lex: newlines of one kind, and no marks.
func clean(script string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", string(statusMark), "", string(lastMark), "").Replace(script)
}

// lex returns the tokens of a script that is clean.
//
// Errors: EINVAL for a quote that is not closed (wrapped with the line).
func lex(script string) ([]token, error) {
	l := &lexer{in: script, line: 1}
	for l.pos < len(l.in) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	l.end()
	return l.tokens, nil
}

// end ends the word, if there is one.
func (l *lexer) end() {
	if l.inWord {
		l.tokens = append(l.tokens, token{l.word.String(), false, l.line, l.from, l.pos})
	}
	l.word.Reset()
	l.inWord = false
}

func (l *lexer) add(c byte) {
	l.begin()
	l.word.WriteByte(c)
}

// begin begins a word, unless one has begun.
func (l *lexer) begin() {
	if !l.inWord {
		l.inWord, l.from = true, l.pos
	}
}

// next reads a piece of a word, an operator, or what separates them.
func (l *lexer) next() error {
	c, rest := l.in[l.pos], l.in[l.pos:]
	switch {
	case c == ' ' || c == '\t':
		l.end()
		l.pos++
	case c == '#' && !l.inWord:
		for l.pos < len(l.in) && l.in[l.pos] != '\n' {
			l.pos++
		}
	case c == '\'' || c == '"':
		return l.quoted(c)
	case c == '\\':
		l.backslash(rest)
	case strings.HasPrefix(rest, "$?"):
		l.add(statusMark)
		l.pos += 2
	case strings.HasPrefix(rest, "$!"):
		l.add(lastMark)
		l.pos += 2
	default:
		if !l.operator(rest) {
			l.add(c)
			l.pos++
		}
	}
	return nil
}

// operator reads an operator, if there is one.
func (l *lexer) operator(rest string) bool {
	for _, op := range operators {
		if strings.HasPrefix(rest, op) && !(l.inWord && op[0] == '2') {
			l.end()
			l.tokens = append(l.tokens, token{op, true, l.line, l.pos, l.pos + len(op)})
			l.pos += len(op)
			if op == "\n" {
				l.line++
			}
			return true
		}
	}
	return false
}

// backslash takes the next character literally; in front of a newline it joins the lines.
func (l *lexer) backslash(rest string) {
	switch {
	case len(rest) == 1:
		l.add('\\')
	case rest[1] == '\n':
		l.line++
	default:
		l.add(rest[1])
	}
	l.pos += min(2, len(rest))
}

// quoted reads up to the closing quote. Between double quotes a backslash escapes ", \ and $, and
// $? and $! are replaced.
func (l *lexer) quoted(quote byte) error {
	first := l.line
	l.begin()
	for l.pos++; l.pos < len(l.in); l.pos++ {
		c, rest := l.in[l.pos], l.in[l.pos:]
		switch {
		case c == quote:
			l.pos++
			return nil
		case c == '\n':
			l.line++
		case quote == '"' && c == '\\' && len(rest) > 1 && strings.IndexByte(`"\$`, rest[1]) >= 0:
			l.pos++
			c = rest[1]
		case quote == '"' && strings.HasPrefix(rest, "$?"):
			l.pos++
			c = statusMark
		case quote == '"' && strings.HasPrefix(rest, "$!"):
			l.pos++
			c = lastMark
		}
		l.word.WriteByte(c)
	}
	return refusal.New(syscall.EINVAL, "line %d: quote %c is not closed", first, quote)
}
