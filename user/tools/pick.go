package tools

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// few reads the arguments of head and tail: -n COUNT or -COUNT, and files.
func few(s Streams, name string, args []string) (n int, files []string, err error) {
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if v, err := strconv.Atoi(args[0][1:]); err == nil {
			return v, args[1:], nil
		}
	}
	f := Flags(s, name)
	f.IntVar(&n, "n", 10, "how many lines")
	if err = Parse(f, args); err == nil && n < 0 {
		err = fmt.Errorf("-n %d: the count must not be negative", n)
	}
	return n, f.Args(), err
}

// Head prints the first lines, or with -c the first bytes.
func Head(s Streams, args []string) error {
	if len(args) > 0 {
		if n, ok := strings.CutPrefix(args[0], "-c"); ok {
			return headBytes(s, append(strings.Fields("-c "+n), args[1:]...))
		}
	}
	n, files, err := few(s, "head", args)
	if err != nil {
		return err
	}
	return each(s, "head", files, func(in input) error {
		left := n
		return lines(in, func(line, end string) bool {
			if left > 0 {
				fmt.Fprint(s.Out, line, end)
			}
			left--
			return left > 0
		})
	})
}

func headBytes(s Streams, args []string) error {
	f := Flags(s, "head")
	n := f.Int64("c", 0, "how many bytes")
	if err := Parse(f, args); err != nil {
		return err
	}
	if *n < 0 {
		return fmt.Errorf("-c %d: the count must not be negative", *n)
	}
	return each(s, "head", f.Args(), func(in input) error {
		_, err := io.CopyN(s.Out, in, *n)
		return ended(err)
	})
}

// Tail prints the last lines.
func Tail(s Streams, args []string) error {
	n, files, err := few(s, "tail", args)
	if err != nil {
		return err
	}
	return each(s, "tail", files, func(in input) error {
		var last []string
		err := lines(in, func(line, end string) bool {
			if last = append(last, line+end); len(last) > n {
				last = last[1:]
			}
			return true
		})
		for _, line := range last {
			fmt.Fprint(s.Out, line)
		}
		return err
	})
}

// grep has the options of Grep.
type grep struct {
	invert, count, number, quiet, names bool
	what                                *regexp.Regexp
	found                               bool
}

// Grep prints the lines that match a pattern: a regular expression of Go's package regexp or, with -F,
// plain text. Its status is 1 if no line matches.
func Grep(s Streams, args []string) error {
	var g grep
	f := Flags(s, "grep")
	fixed, fold := f.Bool("F", false, "the pattern is plain text"), f.Bool("i", false, "ignore case")
	extended := f.Bool("E", false, "the pattern is an extended regular expression: | and \\| mean what they mean there")
	f.BoolVar(&g.invert, "v", false, "print the lines that do not match")
	f.BoolVar(&g.count, "c", false, "print only how many lines match")
	f.BoolVar(&g.number, "n", false, "print line numbers")
	f.BoolVar(&g.quiet, "q", false, "print nothing; only set the exit status")
	if err := Parse(f, args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		fmt.Fprintln(s.Err, "grep: no pattern given")
		return usage
	}
	text := f.Arg(0)
	switch {
	case *fixed:
		text = regexp.QuoteMeta(text)
	case !*extended:
		text = strings.ReplaceAll(text, `\|`, "|")
	}
	if *fold {
		text = "(?i)" + text
	}
	var err error
	if g.what, err = regexp.Compile(text); err != nil {
		fmt.Fprintf(s.Err, "grep: %v\n", err)
		return usage
	}
	g.names = f.NArg() > 2
	return g.run(s, f.Args()[1:])
}

func (g *grep) run(s Streams, files []string) error {
	err := buffered(s.Out, func(w *bufio.Writer) error {
		return each(s, "grep", files, func(in input) error { return g.file(w, in) })
	})
	switch {
	case err != nil:
		return usage
	case !g.found:
		return Status(1)
	}
	return nil
}

func (g *grep) file(w *bufio.Writer, in input) error {
	at, n, name := 0, 0, ""
	if g.names {
		name = in.name + ":"
	}
	err := lines(in, func(line, _ string) bool {
		at++
		if g.what.MatchString(line) == g.invert {
			return true
		}
		n++
		g.found = true
		switch {
		case g.quiet:
			return false
		case g.count:
		case g.number:
			fmt.Fprintf(w, "%s%d:%s\n", name, at, line)
		default:
			fmt.Fprintf(w, "%s%s\n", name, line)
		}
		return true
	})
	if g.count && !g.quiet {
		fmt.Fprintf(w, "%s%d\n", name, n)
	}
	return err
}
