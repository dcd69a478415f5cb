package explain

import (
	"fmt"
	"io"
	"strings"
)

// A Source is lines of a file, with what a probe on each would be.
type Source struct {
	Function    string // that was asked for; "": a file
	File        string // its whole name
	First, Last int
	Lines       []Line // those that have code, ascending
}

// A Line is one of them.
type Line struct {
	Number int
	Copies int // in how many functions and inlined copies it is
	Places []Instruction
}

// Ways in which a probe is hit.
const (
	Refused    = ""
	Breakpoint = "breakpoint"
	Jump       = "jump"
)

// An Instruction is one place of a line.
type Instruction struct {
	Symbol string
	Offset uint64
	Way    string   // how a probe would be hit
	Why    string   // against a jump, or why there can be no probe
	Hit    string   // how the one that is there is hit now; "": there is none, or it is not armed
	Args   []string // at the entry of a function that is known: name, type, and where they are
}

// Version is that of the JSON.
const Version = 1

// WriteJSON prints s in a line, as schema.json says. quote makes a string of JSON.
func (s *Source) WriteJSON(w io.Writer, quote func(string) string) error {
	lines := make([]string, len(s.Lines))
	for i, l := range s.Lines {
		places := make([]string, len(l.Places))
		for j, p := range l.Places {
			places[j] = p.json(quote)
		}
		lines[i] = fmt.Sprintf(`{"line":%d,"copies":%d,"places":[%s]}`, l.Number, l.Copies, strings.Join(places, ","))
	}
	_, err := fmt.Fprintf(w, "{\"version\":%d,\"function\":%s,\"file\":%s,\"first\":%d,\"last\":%d,\"lines\":[%s]}\n",
		Version, quote(s.Function), quote(s.File), s.First, s.Last, strings.Join(lines, ","))
	return err
}

func (i Instruction) json(quote func(string) string) string {
	way := i.Way
	if way == Refused {
		way = "refused"
	}
	args := make([]string, len(i.Args))
	for k, a := range i.Args {
		args[k] = quote(a)
	}
	return fmt.Sprintf(`{"symbol":%s,"offset":%d,"way":%s,"why":%s,"hit":%s,"args":[%s]}`,
		quote(i.Symbol), i.Offset, quote(way), quote(i.Why), quote(i.Hit), strings.Join(args, ","))
}
