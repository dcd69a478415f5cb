// Package export writes the output of scripts in formats that other tools open: folded stacks, Chrome's trace
// events, Perfetto's packets, pprof's profiles. Each writer is small, and its tests read the result back
// with a library for the format.
package export

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sonde/trace/lang"
	"sonde/trace/out"
)

// Sink is what a format is written to.
type Sink interface {
	Event(e *Event) error
	Stack(s *out.StackCount) error
	Point(p *out.SeriesPoint) error
	Close() error // the end of the file
}

// Event is something that a probe said.
type Event struct {
	At       int64  // since boot, in ns
	PID, TID int    // PID 0 is the kernel
	Comm     string // what the thread is called
	CPU      int
	Phase    byte   // 'B' a call begins, 'E' it ends, 'i' something happens
	Name     string // of the function or the attach point
	Text     string // what was said
}

// Formats are by name. Events says whether records need the time.
var formats = map[string]struct {
	make   func(w io.Writer) Sink
	events bool
}{
	"folded":   {func(w io.Writer) Sink { return &folded{w} }, false},
	"pprof":    {func(w io.Writer) Sink { return newProfile(w) }, false},
	"chrome":   {func(w io.Writer) Sink { return &chrome{w: w} }, true},
	"perfetto": {func(w io.Writer) Sink { return newPerfetto(w) }, true},
}

// New returns a Sink of a format; ok is false if there is no such format.
func New(format string, w io.Writer) (s Sink, ok bool) {
	f, ok := formats[format]
	if !ok {
		return nil, false
	}
	return f.make(w), true
}

// HasEvents tells whether a format shows what probes say, with the time.
func HasEvents(format string) bool { return formats[format].events }

// of makes an event of a record. What a probe at a function's begin says begins the call if the script has a
// probe at its end, too, which ends it.
func of(u *lang.Unit, a *lang.Action, stamp out.Stamp, text string) *Event {
	e := &Event{At: stamp.At, PID: stamp.PID, TID: stamp.TID, Comm: stamp.Comm, CPU: stamp.CPU, Phase: 'i', Name: a.Point.Text, Text: text}
	if name, phase, provider, options := endOf(a.Point); phase != 0 && has(u, provider, options) {
		e.Phase, e.Name = phase, name
	}
	return e
}

// Act does what a record asks for. What it would print is an event, if s is not nil.
func Act(s Sink, p *out.Printer, a *lang.Action, record, data []byte, table func(*lang.Map) out.Table) error {
	text, says := p.Says(a, data)
	if s == nil || !says && a.Kind != lang.PrintMap {
		return p.Act(a, data, table)
	}
	if !says || !a.Stamps {
		return nil
	}
	return s.Event(of(p.Unit, a, out.StampOf(record), text))
}

// Rest writes what is in the maps, and ends the file; without a Sink, it prints them. Warnings that are left come first.
func Rest(s Sink, p *out.Printer, table func(*lang.Map) out.Table) error {
	if err := p.Warnings(); err != nil {
		return err
	}
	if s == nil {
		return p.Rest(table)
	}
	for _, m := range p.Unit.Maps {
		for _, c := range p.Stacks(m, table(m)) {
			if err := s.Stack(c); err != nil {
				return err
			}
		}
		for _, point := range p.Series(m, table(m)) {
			if err := s.Point(point); err != nil {
				return err
			}
		}
	}
	return s.Close()
}

// endOf tells which call a probe begins ('B') or ends ('E'), and which probe is at its other end. Phase 0: none.
func endOf(p *lang.Point) (call string, phase byte, provider string, options []string) {
	if other, ok := pairs[p.Provider]; ok {
		return p.Options[len(p.Options)-1], other.phase, other.provider, p.Options
	}
	if p.Provider != "tracepoint" || p.Options[0] != "syscalls" {
		return "", 0, "", nil
	}
	if call, ok := strings.CutPrefix(p.Options[1], "sys_enter_"); ok {
		return call, 'B', p.Provider, []string{p.Options[0], "sys_exit_" + call}
	}
	call = strings.TrimPrefix(p.Options[1], "sys_exit_")
	return call, 'E', p.Provider, []string{p.Options[0], "sys_enter_" + call}
}

// pairs are what probes at the begin and the end of functions are called, and what they say of the call.
var pairs = map[string]struct {
	provider string
	phase    byte
}{"kprobe": {"kretprobe", 'B'}, "kretprobe": {"kprobe", 'E'}, "uprobe": {"uretprobe", 'B'}, "uretprobe": {"uprobe", 'E'},
	"fentry": {"fexit", 'B'}, "fexit": {"fentry", 'E'}}

// names are what processes and threads were said to be called.
type names map[[2]int]string

// process reports whether the name of an event's process is to be said: the first time, and when its first thread has another.
func (n *names) process(e *Event) bool {
	_, known := (*n)[[2]int{e.PID, -1}]
	return (!known || e.TID == e.PID) && n.changes([2]int{e.PID, -1}, e.processName())
}

// thread reports that of an event's thread.
func (n *names) thread(e *Event) bool { return n.changes([2]int{e.PID, e.TID}, e.threadName()) }

func (n *names) changes(id [2]int, name string) bool {
	if *n == nil {
		*n = names{}
	}
	old, known := (*n)[id]
	(*n)[id] = name
	return !known || old != name
}

// processName is what the process of an event is called, by the event's thread.
func (e *Event) processName() string {
	if e.PID == 0 {
		return "kernel"
	}
	return e.Comm
}

// threadName is what the thread of an event is called; of the kernel's, with the goroutine.
func (e *Event) threadName() string {
	const kernelThread = 0x400000 // see probe/event
	switch {
	case e.PID != 0 || e.TID < kernelThread:
		return e.Comm
	case e.Comm == "kernel": // it is no thread's
		return fmt.Sprintf("goroutine %d", e.TID-kernelThread)
	}
	return fmt.Sprintf("%s, goroutine %d", e.Comm, e.TID-kernelThread)
}

func has(u *lang.Unit, provider string, options []string) bool {
	return slices.ContainsFunc(u.Programs, func(p *lang.Compiled) bool {
		return p.Point.Provider == provider && slices.Equal(p.Point.Options, options)
	})
}
