package shell

import (
	"fmt"
	"io"
	"strings"
)

var grepCommand = &Command{
	Name:  "grep",
	Usage: "[-cinqv] text [file...]",
	Help:  "print the lines that contain a text; ^ and $ match the ends of a line (-i: ignore case, -v: lines without it, -c: count, -n: with numbers, -q: print nothing)",
	Run:   grep,
}

// matcher is what grep searches for. It is text, not a pattern: the names of Go symbols are full of
// characters that are special in patterns.
type matcher struct {
	text             string
	atStart, atEnd   bool
	fold, not, count bool
	number, quiet    bool
}

func grep(c *Context, args []string) error {
	opts, rest, err := Options(args, "cinqvFe")
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return Usagef("no text given")
	}
	m := matcher{fold: has(opts, 'i'), not: has(opts, 'v'), count: has(opts, 'c'), number: has(opts, 'n'), quiet: has(opts, 'q')}
	m.text, m.atStart = strings.CutPrefix(rest[0], "^")
	m.text, m.atEnd = strings.CutSuffix(m.text, "$")
	if m.fold {
		m.text = strings.ToLower(m.text)
	}
	found := false
	err = eachReader(c, rest[1:], func(name string, r io.Reader) error {
		n, err := m.print(c, name, r)
		found = found || n > 0
		return err
	})
	if err == nil && !found {
		return Status(statusError)
	}
	return err
}

// print prints the matching lines, each after the name if there is one.
func (m matcher) print(c *Context, name string, r io.Reader) (int, error) {
	n, i := 0, 0
	if name != "" {
		name += ":"
	}
	err := eachLine(r, func(line string) error {
		i++
		line = strings.TrimSuffix(line, "\n")
		if m.match(line) == m.not {
			return nil
		}
		n++
		if m.count || m.quiet {
			return nil
		}
		prefix := name
		if m.number {
			prefix += fmt.Sprintf("%d:", i)
		}
		_, err := fmt.Fprintln(c.Out, prefix+line)
		return err
	})
	if m.count && !m.quiet && err == nil {
		fmt.Fprintf(c.Out, "%s%d\n", name, n)
	}
	return n, err
}

func (m matcher) match(line string) bool {
	if m.fold {
		line = strings.ToLower(line)
	}
	switch {
	case m.atStart && m.atEnd:
		return line == m.text
	case m.atStart:
		return strings.HasPrefix(line, m.text)
	case m.atEnd:
		return strings.HasSuffix(line, m.text)
	}
	return strings.Contains(line, m.text)
}
