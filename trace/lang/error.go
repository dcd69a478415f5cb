package lang

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/shell/paint"
)

// Span is a part of a script: bytes From to To, the last one not included.
type Span struct{ From, To int }

func (s Span) to(other Span) Span { return Span{s.From, other.To} }

// Source is the text of a script, and what it is called in errors.
type Source struct{ Name, Text string }

// Error is what is wrong with a script.
type Error struct {
	Source *Source
	Span   Span
	Why    string
	Hint   string // what to do; ""

	Warning bool // the script can be run
	Plain   bool // no place in the script is meant
}

// Error is three lines: the place and the reason, the line of the script, and a mark under the place.
func (e *Error) Error() string { return e.Text(nil) }

// Text is Error for w: at a terminal, with colours.
func (e *Error) Text(w io.Writer) string {
	kind, colour := "ERROR:", paint.Error
	if e.Warning {
		kind, colour = "WARNING:", paint.Warning
	}
	kind = paint.Text(w, colour, kind)
	if e.Plain {
		return strings.TrimSuffix(kind+" "+e.Why+"\nHINT: "+e.Hint, "\nHINT: ")
	}
	from, to := min(e.Span.From, len(e.Source.Text)), min(e.Span.To, len(e.Source.Text))
	number, start, line := e.Source.line(from)
	to = max(from+1, min(to, start+len(line)))
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d-%d: %s %s\n%s\n", e.Source.Name, number, from-start+1, to-start+1, kind, e.Why, printable(line))
	for _, c := range line[:min(from-start, len(line))] {
		if c == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	b.WriteString(paint.Text(w, colour, strings.Repeat("~", to-from)))
	if e.Hint != "" {
		b.WriteString("\nHINT: " + e.Hint)
	}
	return b.String()
}

// line returns the line that a byte is in: its number from 1, where it begins, and its text.
func (s *Source) line(at int) (number, start int, text string) {
	number = 1 + strings.Count(s.Text[:at], "\n")
	start = strings.LastIndexByte(s.Text[:at], '\n') + 1
	text, _, _ = strings.Cut(s.Text[start:], "\n")
	return number, start, text
}

// printable replaces what a terminal would act upon.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7F {
			return '?'
		}
		return r
	}, s)
}

// thrown is an Error on its way to the caller of Parse or Compile.
type thrown struct{ err *Error }

func (s *Source) fail(at Span, format string, args ...any) {
	panic(thrown{&Error{Source: s, Span: at, Why: fmt.Sprintf(format, args...)}})
}

func (s *Source) failHint(at Span, hint, format string, args ...any) {
	panic(thrown{&Error{Source: s, Span: at, Why: fmt.Sprintf(format, args...), Hint: hint}})
}

// catch turns what was thrown into the error of the function that defers it.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case thrown:
		*err = r.err
	default:
		panic(r)
	}
}

// didYouMean is the end of an error about a name.
func didYouMean(name string, all []string) string {
	return kallsyms.DidYouMean(kallsyms.Nearest(name, all))
}

// keys returns the keys of a table of names, in order.
func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
