// Package out prints what scripts ask for, as bpftrace does: values, maps, histograms; as text or as
// JSON, an object for each line.
package out

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"sonde/kallsyms"
	"sonde/trace/lang"
)

// Printer prints what a script asks for.
type Printer struct {
	W       io.Writer
	JSON    bool
	Unit    *lang.Unit
	Symbols Symbols
	Started time.Time // when the clock of nsecs was 0

	Err        io.Writer // of errorf() and warnf(); nil: W
	NoWarnings bool
	Tight      bool                                 // an empty line after a map is printed when something follows it
	Call       func(n uint64) string                // names a system call; nil: by its number
	Held       func(first uint64) string            // names the type of what an interface of Go holds, by its first word; nil, or "": unknown
	System     func(command string) (string, error) // runs what system() says; nil: nothing can be run
	Cat        func(file string) (string, error)    // reads a file

	owed     bool // an empty line
	warnings []*warning
	cleared  map[*lang.Map]bool // without a key: clear() or delete() came
}

// Symbols names addresses.
type Symbols interface {
	// Name is what is at an address: of a program, if user.
	Name(addr uint64, user bool) kallsyms.Named
	// Stack returns the addresses of a stack, the latest first.
	Stack(t lang.Type, id int64) []uint64
	// Variable is the variable or the field of this type at an address of the kernel, which the calls of a stack use; "": unknown.
	Variable(addr uint64, of string, stack []uint64) string
	// Area is what a process has mapped at an address: a file, [heap], [stack], [anon]; or else the address.
	Area(addr uint64, pid int) string
}

// Attached says how many probes there are.
func (p *Printer) Attached(n int) error {
	if p.JSON {
		return p.text("{\"type\": \"attached_probes\", \"count\": %d, \"data\": {\"probes\": %d}}\n", n, n)
	}
	s := "s"
	if n == 1 {
		s = ""
	}
	return p.text("Attached %d probe%s\n", n, s)
}

// Unset says, in JSON, at how many places in programs a probe could not be set; people are told where losses are.
func (p *Printer) Unset(probe string, places uint64, why string) error {
	if !p.JSON {
		return nil
	}
	return p.object("unset_probes", fmt.Sprintf(`{"probe": %s, "places": %d, "reason": %s}`, Quote(probe), places, Quote(why)))
}

func (p *Printer) text(format string, args ...any) error {
	if p.owed {
		p.owed, format = false, "\n"+format
	}
	_, err := fmt.Fprintf(p.W, format, args...)
	return err
}

// gap prints the empty line after a map.
func (p *Printer) gap() error {
	if p.Tight {
		p.owed = true
		return nil
	}
	return p.text("\n")
}

// object prints a line of JSON.
func (p *Printer) object(kind, data string) error {
	return p.text("{\"type\": \"%s\", \"data\": %s}\n", kind, data)
}

// Record prints what a record of printf, print or time says.
func (p *Printer) Record(a *lang.Action, data []byte) error {
	switch a.Kind {
	case lang.ShowTime:
		return p.say("time", p.when(a.Format, time.Since(p.Started)))
	case lang.PrintValue:
		return p.printValue(a, data)
	case lang.ErrorF, lang.WarnF:
		return p.complain(a, p.format(a, data))
	case lang.NoKey:
		return p.warn(a, int64(word(data)))
	case lang.System, lang.Cat:
		return p.outside(a, p.format(a, data))
	case lang.Join:
		texts, _ := p.values(a.Args, data)
		for len(texts) > 0 && texts[len(texts)-1] == "" {
			texts = texts[:len(texts)-1]
		}
		return p.say("join", strings.Join(texts, a.Format)+"\n")
	}
	return p.say("printf", p.format(a, data))
}

// Says is what a record of printf() or print() says; false: it is about something else.
func (p *Printer) Says(a *lang.Action, data []byte) (string, bool) {
	switch a.Kind {
	case lang.PrintF:
		return strings.TrimSuffix(p.format(a, data), "\n"), true
	case lang.PrintValue:
		return p.value(a.Args[0], data), true
	}
	return "", false
}

func (p *Printer) say(kind, text string) error {
	if p.JSON {
		return p.object(kind, Quote(text))
	}
	return p.text("%s", text)
}

// outside runs a command, or prints a file.
func (p *Printer) outside(a *lang.Action, what string) error {
	run, kind := p.System, "syscall"
	if a.Kind == lang.Cat {
		run, kind = p.Cat, "cat"
	}
	if run == nil {
		return p.text("ERROR: nothing can be run or read here: %s\n", what)
	}
	text, err := run(what)
	if err != nil && a.Kind == lang.Cat {
		return p.text("ERROR: failed to open file '%s' (%s)\n", what, cause(err))
	} else if err != nil {
		return p.text("ERROR: %s\n", err)
	}
	if a.Kind == lang.Cat {
		text = text[:min(len(text), p.Unit.Settings.MaxCat)]
	}
	return p.say(kind, text)
}

// cause is what Linux's programs call an error, if it is one of a system call.
func cause(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return errorText(uint64(no))
	}
	return err.Error()
}

// printValue prints a value, or what a map without a key has.
func (p *Printer) printValue(a *lang.Action, data []byte) error {
	t := a.Args[0]
	switch {
	case p.JSON && a.Map != nil:
		return p.object("map", "{"+Quote(a.Map.Name)+": "+p.valueJSON(t, data)+"}")
	case p.JSON:
		return p.object("value", p.valueJSON(t, data))
	case a.Map != nil:
		return p.text("%s: %s\n", a.Map.Name, p.value(t, data))
	}
	return p.text("%s\n", p.value(t, data))
}

func brackets(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return "[" + strings.Join(keys, ", ") + "]"
}

// values cuts values of these types off data.
func (p *Printer) values(types []lang.Type, data []byte) (texts []string, rest []byte) {
	for _, t := range types {
		texts = append(texts, p.value(t, data))
		data = data[t.Size():]
	}
	return texts, data
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func cString(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// probe names where a hit was: of a pattern, with the function that was hit.
func (p *Printer) probe(place, addr uint64) string {
	text := p.Unit.Places[place]
	if addr == 0 {
		return text
	}
	return text + ":" + p.Symbols.Name(addr, false).Name
}

// stack prints a frame to a line, and begins on a new one.
func (p *Printer) stack(t lang.Type, id int64) string {
	if id < 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	for i, addr := range p.Symbols.Stack(t, id) {
		if t.Mode == "raw" {
			fmt.Fprintf(&b, "%x\n", addr)
			continue
		}
		b.WriteString("    ")
		if t.Mode == "perf" {
			fmt.Fprintf(&b, "%x ", addr)
		}
		b.WriteString(p.frame(t, i, addr).String() + "\n")
	}
	return b.String()
}
