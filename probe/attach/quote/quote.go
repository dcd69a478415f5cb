// Package quote cuts texts in which quotes protect what would separate their parts, as attach points and places have
// them: "/tmp/co:lon/prog":main. In quotes, \" is a quote and \\ a backslash; any other backslash stands for itself.
//
// A text is cut first, and its parts are freed of their quotes last.
package quote

import "strings"

// Index returns where the first of some characters is that no quotes protect; -1: nowhere. A comma that is looked for
// is not one between brackets, as functions of Go have them that are instances of generic ones. open says that a quote
// has no end.
func Index(text, chars string) (at int, open bool) {
	quoted, depth := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			i += escape(text[i:]) - 1
		case strings.IndexByte(chars, c) >= 0 && (c != ',' || depth == 0):
			return i, false
		case c == '[':
			depth++
		case c == ']':
			depth--
		}
	}
	return -1, quoted
}

// escape is how many bytes the first character in quotes takes.
func escape(text string) int {
	if len(text) > 1 && text[0] == '\\' && (text[1] == '"' || text[1] == '\\') {
		return 2
	}
	return 1
}

// Cut is strings.Cut for a separator that no quotes protect.
func Cut(text, sep string) (before, after string, found bool) {
	if at, _ := Index(text, sep); at >= 0 {
		return text[:at], text[at+1:], true
	}
	return text, "", false
}

// Split cuts a text at all separators, or at the first most-1 of them if most is not 0.
func Split(text, sep string, most int) (parts []string) {
	for most == 0 || len(parts) < most-1 {
		part, rest, found := Cut(text, sep)
		if !found {
			break
		}
		parts, text = append(parts, part), rest
	}
	return append(parts, text)
}

// Bare calls f for what no quotes protect, and returns the text with its results in place.
func Bare(text string, f func(string) string) string {
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '"')
		if at < 0 {
			at = len(text)
		}
		b.WriteString(f(text[:at]))
		text = text[at:]
		n, _ := ends(text)
		b.WriteString(text[:n])
		text = text[n:]
	}
	return b.String()
}

// ends returns where the quotes end that a text begins with; with none, where the text does.
func ends(text string) (at int, closed bool) {
	for i := 1; i < len(text); i += escape(text[i:]) {
		if text[i] == '"' {
			return i + 1, true
		}
	}
	return len(text), false
}

// Remove returns the text without its quotes.
func Remove(text string) string {
	if !strings.Contains(text, `"`) {
		return text
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
			continue
		case quoted:
			i += escape(text[i:]) - 1
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Prefix returns what is in the quotes that a text begins with, and what follows them; ok says that it begins with
// quotes, which have an end.
func Prefix(text string) (value, rest string, ok bool) {
	if n, closed := ends(text); closed && text[0] == '"' {
		return Remove(text[:n]), text[n:], true
	}
	return "", text, false
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Add puts a text in quotes.
func Add(text string) string { return `"` + escaped.Replace(text) + `"` }
