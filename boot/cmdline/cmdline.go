// Package cmdline reads a kernel command line in place.
//
// Words are separated by white space; double quotes protect it, as in Linux (lib/cmdline.c,
// next_arg): a quote may open anywhere in a word, and a pair around the value (key="a b")
// or around the whole word ("key=a b") is removed. There are no escapes, so every result is
// a substring of the input and nothing is allocated: it runs before the Go runtime does.
//
// A word that is exactly -- ends the parameters; what follows is a script for
// the shell and is not looked at here.
package cmdline

// Words walks the words of a command line: w := Words{Rest: line}.
type Words struct {
	Rest string // the part that has not been walked yet
}

// Next returns the next word, quotes included; false at the end. It does not treat "--" specially.
func (w *Words) Next() (word string, ok bool) {
	s := w.Rest
	start := 0
	for start < len(s) && space(s[start]) {
		start++
	}
	end, quoted := start, false
	for end < len(s) && (quoted || !space(s[end])) {
		if s[end] == '"' {
			quoted = !quoted
		}
		end++
	}
	w.Rest = s[end:]
	return s[start:end], end > start
}

// Split cuts a word at its first '=' and strips the quotes around the value or around the whole
// word. hasValue distinguishes "key=" from "key".
func Split(word string) (key, value string, hasValue bool) {
	if len(word) > 0 && word[0] == '"' {
		word = unquote(word)
	}
	for i := 0; i < len(word); i++ {
		if word[i] == '=' {
			return word[:i], unquote(word[i+1:]), true
		}
	}
	return word, "", false
}

// Get returns the value of key. A bare word has the value "". If the key is
// given more than once the last one counts, so that a boot prompt can override
// what comes before it. In keys - and _ are the same.
func Get(line, key string) (value string, ok bool) {
	w := Words{line}
	for {
		word, more := w.Next()
		if !more || word == "--" {
			return value, ok
		}
		if k, v, _ := Split(word); sameKey(k, key) {
			value, ok = v, true
		}
	}
}

// Script returns everything after the first word that is exactly --, without
// the white space in front; false if there is no such word.
func Script(line string) (string, bool) {
	w := Words{line}
	for {
		word, more := w.Next()
		if !more {
			return "", false
		}
		if word == "--" {
			s := w.Rest
			for len(s) > 0 && space(s[0]) {
				s = s[1:]
			}
			return s, true
		}
	}
}

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// unquote strips a leading quote and the trailing one that goes with it; a missing trailing quote
// is not an error.
func unquote(s string) string {
	if len(s) == 0 || s[0] != '"' {
		return s
	}
	s = s[1:]
	if n := len(s); n > 0 && s[n-1] == '"' {
		s = s[:n-1]
	}
	return s
}

func sameKey(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if dash(a[i]) != dash(b[i]) {
			return false
		}
	}
	return true
}

func dash(c byte) byte {
	if c == '-' {
		return '_'
	}
	return c
}
