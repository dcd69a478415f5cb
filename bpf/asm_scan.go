package bpf

import "strings"

// token is a word, a number or a sign of a line; "" is the end of the line.
type token string

// signs is every sign that is not a single character, longest first.
var signs = []string{"s>>=", "<<=", ">>=", "s/=", "s%=", "s>=", "s<=", "s>", "s<",
	"+=", "-=", "*=", "/=", "|=", "&=", "%=", "^=", "==", "!=", ">=", "<="}

// scan splits a line into tokens, without its comment.
func scan(line string) (tokens []token) {
	for {
		line = strings.TrimLeft(line, " \t\r\v\f")
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "//") {
			return tokens
		}
		n := tokenLen(line)
		tokens = append(tokens, token(line[:n]))
		line = line[n:]
	}
}

// tokenLen returns how many bytes the token has with which line begins.
func tokenLen(line string) int {
	for _, s := range signs {
		if strings.HasPrefix(line, s) {
			return len(s)
		}
	}
	n := 0
	for n < len(line) && inWord(line[n]) {
		n++
	}
	return max(n, 1)
}

// inWord tells whether c can stand in a word or a number. Bytes beyond ASCII can, so that errors
// do not cut them.
func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '.' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (t token) isNumber() bool { return t != "" && isDigit(t[0]) }

// isName tells whether t can name a label.
func (t token) isName() bool {
	_, _, register := t.asRegister()
	return t != "" && inWord(t[0]) && !t.isNumber() && !register
}

// asRegister returns the register that t names, and whether it means all of it.
func (t token) asRegister() (r uint8, whole, ok bool) {
	for r := range uint8(NumRegs) {
		if string(t) == reg(r, true) || string(t) == reg(r, false) {
			return r, t[0] == 'r', true
		}
	}
	return 0, false, false
}
