package coreutils

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var grep = &Command{
	Name:    "grep",
	Usage:   "[-EFceinoqv] [-A lines] pattern [file...]",
	Options: "EFceinoqvA:",
	Help: "print the lines that match a basic regular expression, in which (* is text, as in names of methods " +
		"(-E: an extended one, -F: plain text, -i: ignore case, -v: lines that do not match, -c: count, -n: with numbers, -o: only what matches, -A: also so many lines after it, -q: print nothing)",
	Run: func(u *IO, args []string) error {
		if len(args) == 0 {
			return Usagef("no pattern given")
		}
		m := matcher{not: u.Given('v'), count: u.Given('c'), number: u.Given('n'), only: u.Given('o'), quiet: u.Given('q'), names: len(args) > 2, after: -1}
		var err error
		if text, ok := u.Opts['A']; ok {
			if m.after, err = strconv.Atoi(text); err != nil || m.after < 0 {
				return Usagef("%q is no number of lines", text)
			}
		}
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

// patternOf is what grep's argument means. Of several matches at a place it has the longest, as POSIX says.
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
	re, err := regexp.Compile(text)
	if err == nil {
		re.Longest()
	}
	return re, err
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

// matcher is what grep searches for, and how it prints what it finds.
type matcher struct {
	pattern                    *regexp.Regexp
	not, count                 bool
	number, only, quiet, names bool
	after                      int // lines after one that matches; -1: -A is not given
	found, printed             bool
}

// file prints the lines of a file that match.
func (m *matcher) file(w *bufio.Writer, name string, r io.Reader) error {
	n, i := 0, 0
	left, gap := 0, m.printed // lines that are still to be printed; whether one was not, after one that was
	err := EachLine(r, func(line string) error {
		i++
		line = strings.TrimSuffix(line, "\n")
		if m.pattern.MatchString(line) == m.not {
			if gap = left <= 0 && m.printed; left > 0 {
				left--
				m.print(w, name, i, "-", line)
			}
			return nil
		}
		n++
		m.found = true
		switch {
		case m.quiet:
			return io.EOF
		case m.count:
		case m.only:
			for _, part := range m.parts(line) {
				m.print(w, name, i, ":", part)
			}
		default:
			if gap && m.after >= 0 {
				w.WriteString("--\n")
			}
			left, gap = m.after, false
			m.print(w, name, i, ":", line)
		}
		return nil
	})
	if m.count && !m.quiet && err == nil {
		m.print(w, name, 0, ":", strconv.Itoa(n))
	}
	return err
}

// parts are what matches in a line that is printed, without what is empty.
func (m *matcher) parts(line string) []string {
	if m.not {
		return nil
	}
	return slices.DeleteFunc(m.pattern.FindAllString(line, -1), func(part string) bool { return part == "" })
}

// print prints a line with the file's name and its number, as far as they are asked for.
func (m *matcher) print(w *bufio.Writer, name string, number int, sign, line string) {
	m.printed = true
	if m.names {
		w.WriteString(name + sign)
	}
	if m.number && number > 0 {
		w.WriteString(strconv.Itoa(number) + sign)
	}
	w.WriteString(line + "\n")
}
