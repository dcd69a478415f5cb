// Package out prints what scripts ask for, as bpftrace does: values, maps, histograms; as text or as
// JSON, an object for each line.
package out

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"sonde/trace/lang"
)

// Printer prints what a script asks for.
type Printer struct {
	W       io.Writer
	JSON    bool
	Unit    *lang.Unit
	Symbols Symbols
	Started time.Time // when the clock of nsecs was 0
}

// Symbols names addresses.
type Symbols interface {
	// Name is what is at an address, and how far behind its begin: of a program, if user.
	Name(addr uint64, user bool) (name string, offset uint64)
	// Stack returns the addresses of a stack, the latest first.
	Stack(t lang.Type, id int64) []uint64
}

// Attached says how many probes there are.
func (p *Printer) Attached(n int) error {
	if p.JSON {
		return p.object("attached_probes", fmt.Sprintf(`{"probes": %d}`, n))
	}
	s := "s"
	if n == 1 {
		s = ""
	}
	return p.text("Attached %d probe%s\n", n, s)
}

func (p *Printer) text(format string, args ...any) error {
	_, err := fmt.Fprintf(p.W, format, args...)
	return err
}

// object prints a line of JSON.
func (p *Printer) object(kind, data string) error {
	return p.text("{\"type\": \"%s\", \"data\": %s}\n", kind, data)
}

// Record prints what a record of printf, print or time says.
func (p *Printer) Record(a *lang.Action, data []byte) error {
	text, kind := "", "printf"
	switch a.Kind {
	case lang.PrintF, lang.ErrorF:
		text = p.format(a, data)
	case lang.ShowTime:
		text, kind = p.when(a.Format, time.Since(p.Started)), "time"
	case lang.PrintValue:
		return p.printValue(a, data)
	}
	if p.JSON {
		return p.object(kind, quote(text))
	}
	return p.text("%s", text)
}

// printValue prints a value, or what a map has under a key.
func (p *Printer) printValue(a *lang.Action, data []byte) error {
	key := 0
	if a.Map != nil {
		key = len(a.Map.Key)
	}
	keys, rest := p.values(a.Args[:key], data)
	texts, _ := p.values(a.Args[key:], rest)
	value := strings.Join(texts, ", ")
	switch {
	case p.JSON && a.Map != nil:
		return p.object("map", "{"+quote(a.Map.Name)+": "+p.pairs(keys, p.asJSON(a.Args[key], value))+"}")
	case p.JSON:
		return p.object("value", p.asJSON(a.Args[key], value))
	case a.Map != nil:
		return p.text("%s%s: %s\n", a.Map.Name, brackets(keys), value)
	}
	return p.text("%s\n", value)
}

func (p *Printer) pairs(keys []string, value string) string {
	if len(keys) == 0 {
		return value
	}
	return "{" + quote(strings.Join(keys, ",")) + ": " + value + "}"
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

// value is a value as print shows it.
func (p *Printer) value(t lang.Type, data []byte) string {
	switch t.Kind {
	case lang.String:
		return cString(data[:t.Size()])
	case lang.TupleOf:
		texts, _ := p.values(t.Elems, data)
		return "(" + strings.Join(texts, ", ") + ")"
	case lang.ProbeID:
		return p.probe(word(data), word(data[8:]))
	}
	n := word(data)
	switch {
	case t.Kind == lang.StackID:
		return p.stack(t, int64(n))
	case t.Kind == lang.Symbol:
		name, _ := p.Symbols.Name(n, t.User)
		return name
	case t.Kind == lang.TimeText:
		return p.when(t.Format, time.Duration(n))
	case t.Kind == lang.Pointer:
		return fmt.Sprintf("%#x", n)
	case t.Kind == lang.Int && !t.Signed:
		return strconv.FormatUint(n, 10)
	}
	return strconv.FormatInt(int64(n), 10)
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func cString(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// probe names an attach point: of a pattern, with the function that was hit.
func (p *Printer) probe(index, addr uint64) string {
	point := p.Unit.Programs[index].Point
	if addr == 0 {
		return point.Text
	}
	name, _ := p.Symbols.Name(addr, false)
	return point.Provider + ":" + name
}

// stack prints a frame to a line, and begins on a new one.
func (p *Printer) stack(t lang.Type, id int64) string {
	if id < 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	for _, addr := range p.Symbols.Stack(t, id) {
		name, offset := p.Symbols.Name(addr, t.User)
		if b.WriteString("    " + name); !strings.HasPrefix(name, "0x") {
			fmt.Fprintf(&b, "+%d", offset)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// when prints a time since boot by a format of strftime.
func (p *Printer) when(format string, since time.Duration) string {
	at := p.Started.Add(since)
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		if layout, ok := layouts[format[i]]; ok {
			b.WriteString(at.Format(layout))
		} else if format[i] == 'f' {
			fmt.Fprintf(&b, "%06d", at.Nanosecond()/1000)
		} else if format[i] == 's' {
			fmt.Fprint(&b, at.Unix())
		} else if format[i] == '%' {
			b.WriteByte('%')
		} else {
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}

var layouts = map[byte]string{'H': "15", 'M': "04", 'S': "05", 'Y': "2006", 'm': "01", 'd': "02", 'y': "06", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday",
	'T': "15:04:05", 'F': "2006-01-02", 'D': "01/02/06", 'I': "03", 'p': "PM", 'Z': "MST", 'z': "-0700", 'e': "_2", 'j': "002", 'R': "15:04"}

// format fills in a format of printf.
func (p *Printer) format(a *lang.Action, data []byte) string {
	var b strings.Builder
	args := a.Args
	for _, piece := range lang.CutFormat(a.Format) {
		if piece.Verb == 0 {
			b.WriteString(piece.Text)
			continue
		}
		t := args[0]
		b.WriteString(p.piece(piece, t, data))
		args, data = args[1:], data[t.Size():]
	}
	return b.String()
}

// piece prints a value by a part of a format.
func (p *Printer) piece(piece lang.Piece, t lang.Type, data []byte) string {
	switch piece.Verb {
	case 's':
		return fmt.Sprintf(piece.Go+"s", p.value(t, data))
	case 'r':
		return fmt.Sprintf("%q", data[:t.Size()])
	case 'c':
		return fmt.Sprintf(piece.Go+"s", string(data[:1]))
	case 'p':
		return fmt.Sprintf("%#x", word(data))
	case 'd', 'i':
		return fmt.Sprintf(piece.Go+"d", int64(word(data)))
	case 'u':
		return fmt.Sprintf(piece.Go+"d", word(data))
	}
	n := word(data)
	if t.Bytes == 4 {
		n = uint64(uint32(n))
	}
	return fmt.Sprintf(piece.Go+string(piece.Verb), n)
}
