package coreutils

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

var grep = &Command{
	Name:    "grep",
	Usage:   "[-EFceinqv] pattern [file...]",
	Options: "EFceinqv",
	Help: "print the lines that match a basic regular expression, in which (* is text, as in names of methods " +
		"(-E: an extended one, -F: plain text, -i: ignore case, -v: lines that do not match, -c: count, -n: with numbers, -q: print nothing)",
	Run: func(u *IO, args []string) error {
		if len(args) == 0 {
			return Usagef("no pattern given")
		}
		m := matcher{not: u.Given('v'), count: u.Given('c'), number: u.Given('n'), quiet: u.Given('q'), names: len(args) > 2}
		var err error
		if m.pattern, err = patternOf(args[0], u.Opts); err != nil {
			return Usagef("%v", err)
		}
		switch err = u.Filter(args[1:], m.file); {
		case err == Failed: // grep's 1 says that no line matches
			return Misused
		case err == nil && !m.found:
			return Failed
		}
		return err
	},
}

// patternOf is what grep's argument means.
//
// Errors: it is no regular expression.
func patternOf(text string, opts Opts) (*regexp.Regexp, error) {
	switch {
	case opts.Given('F'):
		text = regexp.QuoteMeta(text)
	case !opts.Given('E'):
		text = extended(text)
	}
	if opts.Given('i') {
		text = "(?i)" + text
	}
	return regexp.Compile(text)
}

// extended makes an extended regular expression of a basic one (POSIX, Base Definitions 9.3, and GNU's
// \|, \+ and \?): there, these and braces and parentheses are text unless a backslash stands before
// them; so is * where nothing is before it to repeat, and, for names of methods, after a parenthesis.
func extended(text string) string {
	var b strings.Builder
	first := true // nothing is before c that * could repeat
	for i := 0; i < len(text); i++ {
		c := text[i]
		start := false
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			if !strings.ContainsRune("|+?(){}", rune(text[i])) {
				b.WriteByte(c)
			}
			b.WriteByte(text[i])
			start = text[i] == '|' || text[i] == '('
		case c == '[' && bracket(text[i:]) != "":
			set := bracket(text[i:])
			b.WriteString(set)
			i += len(set) - 1
		case strings.IndexByte("|+?(){}[", c) >= 0, c == '*' && first,
			c == '^' && !first, c == '$' && i+1 < len(text) && !strings.HasPrefix(text[i+1:], `\|`) && !strings.HasPrefix(text[i+1:], `\)`):
			b.WriteString(`\` + string(c))
			start = c == '('
		default:
			b.WriteByte(c)
			start = c == '^'
		}
		first = start
	}
	return b.String()
}

// bracket is the bracket expression that text begins with, in which a backslash is text; empty if it
// does not end, as in what finds times of the log.
func bracket(text string) string {
	end := 1
	if strings.HasPrefix(text[end:], "^") {
		end++
	}
	if strings.HasPrefix(text[end:], "]") {
		end++
	}
	for end < len(text) && text[end] != ']' {
		if n := strings.Index(text[end:], ":]"); strings.HasPrefix(text[end:], "[:") && n > 0 {
			end += n + 1
		}
		end++
	}
	if end >= len(text) {
		return ""
	}
	return strings.ReplaceAll(text[:end+1], `\`, `\\`)
}

// matcher is what grep searches for.
type matcher struct {
	pattern              *regexp.Regexp
	not, count           bool
	number, quiet, names bool
	found                bool
}

// file prints the lines of a file that match.
func (m *matcher) file(w *bufio.Writer, name string, r io.Reader) error {
	n, i, prefix := 0, 0, ""
	if m.names {
		prefix = name + ":"
	}
	err := EachLine(r, func(line string) error {
		i++
		line = strings.TrimSuffix(line, "\n")
		if m.pattern.MatchString(line) == m.not {
			return nil
		}
		n++
		m.found = true
		switch {
		case m.quiet:
			return io.EOF
		case m.count:
		case m.number:
			w.WriteString(prefix + strconv.Itoa(i) + ":" + line + "\n")
		default:
			w.WriteString(prefix + line + "\n")
		}
		return nil
	})
	if m.count && !m.quiet && err == nil {
		w.WriteString(prefix + strconv.Itoa(n) + "\n")
	}
	return err
}
