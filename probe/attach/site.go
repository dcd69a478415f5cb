package attach

import (
	"fmt"
	"strings"
	"time"

	"sonde/probe/attach/quote"
)

// Kind says what a Site is a place of.
type Kind uint8

const (
	Kernel  Kind = iota // an instruction of the kernel
	Program             // an instruction of programs
	Line                // a line of the kernel's source
	Inline              // all inlined copies of a function of the kernel, and the function
	Watch               // data, of the kernel or of a process; or an instruction, by a debug register
	Call                // a system call
	Tick                // a time, on each CPU
	Every               // a time, on one CPU
	Event               // a tracepoint: Symbol is SYSTEM:NAME
)

var kindNames = [...]string{"place in the kernel", "place in a program", "source line", "copy of a function", "watchpoint", "system call", "tick", "timer", "tracepoint"}

// String returns what people call the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "?"
}

// A Site says where to attach; there need not be such a place. ParseSite makes one from what people
// type, and String returns that text.
type Site struct {
	Kind   Kind
	Return bool // when the function or call returns
	PID    int  // in this process alone; 0: in all

	File   string // Program: its file; "" with a PID and an Addr. Line: the source file
	Symbol string // a function, a variable or a system call; it may be a pattern
	Offset uint64 // after Symbol; in File, if that is given and Symbol is ""
	Addr   uint64 // if Symbol and File are ""
	Line   int    // from 1

	Access Access // Watch
	Length int    // Watch: bytes; 0: as many as fit
	Later  bool   // Watch: in the process, it may be mapped later; it cannot be typed

	Cookie uint64 // distinguishes the places of one link for the handler; it cannot be typed
	Stands bool   // for a tracepoint, whose record hits have in Data; it cannot be typed

	Hz     int           // Tick: interrupts per second, on each CPU
	Period time.Duration // Every
}

// Pattern reports whether Symbol stands for all names that it fits: a star fits any characters. The
// star of a method's receiver, as in vfs.(*File).Read, does not make a pattern.
func (s Site) Pattern() bool { return strings.Contains(strings.ReplaceAll(s.Symbol, "(*", ""), "*") }

// OfPrograms reports whether programs are hit there, or call the kernel: the handler may be called in their goroutines.
func (s Site) OfPrograms() bool {
	return s.PID != 0 || s.Kind == Program || s.Kind == Call || s.Kind == Watch && s.File != ""
}

// From returns the site as it is meant by a caller in a folder: with the whole path of its file.
func (s Site) From(dir string) Site {
	if (s.Kind == Program || s.Kind == Watch) && strings.Contains(s.File, "/") {
		s.File = PathFrom(dir, s.File)
	}
	return s
}

// PathFrom returns the whole path of a file as it is meant by a caller in a folder.
func PathFrom(dir, file string) string {
	if file == "" || file[0] == '/' {
		return file
	}
	return strings.TrimSuffix(dir, "/") + "/" + strings.TrimPrefix(file, "./")
}

// TextFrom returns the text of a place as it is meant by a caller in a folder; text that is none, as it is.
func TextFrom(dir, text string) string {
	s, err := ParseSite(text)
	if at := s.From(dir); err == nil && at != s {
		return at.String()
	}
	return text
}

// String returns the site as ParseSite reads it, with quotes where it needs them.
func (s Site) String() string {
	plain := s.text(s.File, s.Symbol)
	if s.Kind != Kernel && s.Kind != Program && s.Kind != Watch || s.is(plain) {
		return plain
	}
	for _, text := range []string{s.text(s.File, quote.Add(s.Symbol)), s.text(quote.Add(s.File), s.Symbol), s.text(quote.Add(s.File), quote.Add(s.Symbol))} {
		if s.is(text) {
			return text
		}
	}
	return plain // there is no such site
}

// is tells whether a text means the site.
func (s Site) is(text string) bool {
	s.Cookie = 0
	other, err := ParseSite(text)
	return err == nil && other == s
}

// text is the site with these names.
func (s Site) text(file, symbol string) string {
	s.File, s.Symbol = file, symbol
	var b strings.Builder
	if s.PID != 0 {
		fmt.Fprintf(&b, "%d:", s.PID)
	}
	if s.Return {
		b.WriteString("ret:")
	}
	switch s.Kind {
	case Line:
		fmt.Fprintf(&b, "%s:%d", s.File, s.Line)
	case Inline:
		b.WriteString("inline:" + s.Symbol)
	case Watch:
		fmt.Fprintf(&b, "%s@%s", s.Access, s.where())
		if s.Length != 0 {
			fmt.Fprintf(&b, ":%d", s.Length)
		}
	case Call:
		b.WriteString("sys:" + s.Symbol)
	case Tick:
		fmt.Fprintf(&b, "tick:%dhz", s.Hz)
	case Every:
		b.WriteString("every:" + s.Period.String())
	case Event:
		b.WriteString("event:" + s.Symbol)
	default:
		b.WriteString(s.where())
	}
	return b.String()
}

// where is a symbol with an offset, or an address; of a program, in its file.
func (s Site) where() string {
	file := ""
	if s.File != "" {
		file = s.File + ":"
	}
	switch {
	case s.Symbol == "" && file != "":
		return fmt.Sprintf("%s%#x", file, s.Offset)
	case s.Symbol == "":
		return fmt.Sprintf("%#x", s.Addr)
	case s.Offset != 0:
		return fmt.Sprintf("%s%s+%#x", file, s.Symbol, s.Offset)
	}
	return file + s.Symbol
}
