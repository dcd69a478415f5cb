package shell

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

var grepCommand = &Command{
	Name:  "grep",
	Usage: "[-cEinqv] text [file...]",
	Help:  "print the lines that contain a text, or one of several with \\| between them; ^ and $ match the ends of a line (-E: a regular expression, -i: ignore case, -v: lines without it, -c: count, -n: with numbers, -q: print nothing)",
	Run:   grep,
}

// matcher is what grep searches for. Without -E it is texts, not patterns: the names of Go symbols are full of
// characters that are special in patterns.
type matcher struct {
	pattern       *regexp.Regexp
	not, count    bool
	number, quiet bool
}

// patternOf is what grep's argument means.
//
// Errors: it is no regular expression.
func patternOf(text string, extended, fold bool) (*regexp.Regexp, error) {
	if !extended {
		var any []string
		for one := range strings.SplitSeq(text, `\|`) {
			one, start := strings.CutPrefix(one, "^")
			one, end := strings.CutSuffix(one, "$")
			one = regexp.QuoteMeta(one)
			if start {
				one = "^" + one
			}
			if end {
				one += "$"
			}
			any = append(any, one)
		}
		text = strings.Join(any, "|")
	}
	if fold {
		text = "(?i)" + text
	}
	return regexp.Compile(text)
}

func grep(c *Context, args []string) error {
	opts, rest, err := Options(args, "cinqvFEe")
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return Usagef("no text given")
	}
	m := matcher{not: has(opts, 'v'), count: has(opts, 'c'), number: has(opts, 'n'), quiet: has(opts, 'q')}
	if m.pattern, err = patternOf(rest[0], has(opts, 'E'), has(opts, 'i')); err != nil {
		return Usagef("%v", err)
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
		if m.pattern.MatchString(line) == m.not {
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
