package replay

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/kernel/tape"
)

// A Way is what happens to the machine while a probe is registered, becomes a jump, and is unregistered
// again.
type Way struct {
	Take   // Addr, Symbol, Line, Nanos
	Events []tape.Event
	Lost   int
	CPUs   int
}

// relevant reports whether e is about the place, or about all of the machine.
func (w *Way) relevant(e *tape.Event) bool {
	return e.What != tape.Poked && e.What != tape.Written || e.A == w.Addr
}

// A WayStep is an event in words.
type WayStep struct {
	Seq  int
	T    int64 // ns since the first step
	CPU  int
	What string
	Says string
	Text []byte // what it has written at the place; nil: nothing
}

// steps are the relevant events in words. The clock of a CPU may be slow: no step is before the last one.
func (w *Way) steps() (list []WayStep) {
	var first, last uint64
	for i := range w.Events {
		e := &w.Events[i]
		if !w.relevant(e) {
			continue
		}
		if list == nil {
			first, last = e.Time, e.Time
		}
		last = max(last, e.Time)
		list = append(list, WayStep{Seq: len(list) + 1, T: w.Nanos(last - first), CPU: int(e.CPU), What: steps[e.What], Says: w.happens(e), Text: written(e)})
	}
	return list
}

// columns is on how many CPUs each has a column of its own in text.
const columns = 2

// WriteText prints a line for each step: on two CPUs in the column of its CPU, else with its number.
func (w *Way) WriteText(out io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "glass: %s from INT3 to jump, and back, on %d CPUs\n", w.where(w.Addr), w.CPUs)
	line := w.line
	if w.CPUs == columns {
		line = w.cell
		fmt.Fprintf(&b, "    %-*s CPU 1\n", cellRoom, "CPU 0")
	}
	last := int64(0)
	for _, s := range w.steps() {
		line(&b, &s, s.T-last)
		last = s.T
	}
	if w.Lost > 0 {
		fmt.Fprintf(&b, "  %d events more are lost: there is no room for them\n", w.Lost)
	}
	fmt.Fprintf(&b, "  (Times include the recording itself.)\n")
	_, err := b.WriteTo(out)
	return err
}

// line prints a step with the number of its CPU.
func (w *Way) line(out io.Writer, s *WayStep, ns int64) {
	rec := Recording{Frames: []Frame{{}, {T: ns}}}
	rec.timed(out, 1, fmt.Sprintf("%2d  CPU %d  %s", s.Seq, s.CPU, s.Says))
}

// cellRoom is the width of a CPU's column.
const cellRoom = (width-saysColumn-timeRoom)/columns - 1

// cell prints a step in the column of its CPU.
func (w *Way) cell(out io.Writer, s *WayStep, ns int64) {
	left := strings.Repeat(" ", s.CPU*(cellRoom+1))
	for i, part := range wrapped(s.Says, cellRoom) {
		if i == 0 {
			fmt.Fprintf(out, "%-*s%*s\n", width-timeRoom, fmt.Sprintf("%2d  %s%s", s.Seq, left, part), timeRoom, duration(ns))
		} else {
			fmt.Fprintf(out, "    %s%s\n", left, part)
		}
	}
}

// wrapped breaks s between words, or where a word is too long, into lines of at most n letters.
func wrapped(s string, n int) (lines []string) {
	for len(s) > n {
		at := strings.LastIndexByte(s[:n+1], ' ')
		if at <= 0 {
			lines, s = append(lines, s[:n]), s[n:]
			continue
		}
		lines, s = append(lines, s[:at]), s[at+1:]
	}
	return append(lines, s)
}

// WriteSlide prints what fits a slide.
func (w *Way) WriteSlide(out io.Writer) error {
	var b bytes.Buffer
	if err := w.WriteText(&b); err != nil {
		return err
	}
	return listing.Slide(out, b.String())
}

// WriteJSON prints w as one JSON object, in a line.
func (w *Way) WriteJSON(out io.Writer) error {
	_, err := fmt.Fprintln(out, toJSON(object{"version", Version, "place", w.where(w.Addr), "cpus", w.CPUs, "lost", w.Lost,
		"steps", list(w.steps(), func(s *WayStep) object {
			return object{"seq", s.Seq, "t", s.T, "cpu", s.CPU, "step", s.What, "says", s.Says, "text", code(s.Text)}
		})}))
	return err
}

// steps are the events' names in JSON.
var steps = [...]string{
	tape.Poked: "poked", tape.Serialized: "serialized", tape.DetourMade: "detour-made", tape.GraceBegins: "grace-begins",
	tape.Passed: "passed", tape.GraceOver: "grace-over", tape.Stopping: "stopping", tape.Held: "held", tape.Written: "written",
	tape.LetGo: "let-go", tape.StopOver: "stop-over",
}

// ways are how a CPU passes a scheduling point, in words.
var ways = [...]string{tape.BySwitch: "by a switch of goroutines", tape.ByIdling: "it is idle", tape.InProgram: "it runs a program"}

// happens says what e is.
func (w *Way) happens(e *tape.Event) string {
	switch e.What {
	case tape.Poked:
		return fmt.Sprintf("byte poked at %s: %02x -> %02x", w.where(w.Addr), byte(e.B), byte(e.B>>8))
	case tape.Serialized:
		return "serializes; was at " + w.where(e.A)
	case tape.DetourMade:
		return fmt.Sprintf("detour made at %#x, which hits use from now on", e.A)
	case tape.GraceBegins:
		return "grace period begins"
	case tape.Passed:
		return "has passed a scheduling point: " + ways[min(e.A, uint64(len(ways)-1))]
	case tape.GraceOver:
		return "grace period is over"
	case tape.Stopping:
		return "stops the others"
	case tape.Held:
		if e.A > w.Addr && e.A < w.Addr+insn.JumpSize {
			return "stands still at " + w.where(e.A) + ", in the region"
		}
		return "stands still at " + w.where(e.A)
	case tape.Written:
		return "bytes written: " + listing.Bytes(written(e))
	case tape.LetGo:
		return "goes on"
	}
	return "the machine goes on; it stood for " + strings.TrimPrefix(duration(int64(e.A)), "+")
}

// written are the bytes that e has written; nil: none.
func written(e *tape.Event) []byte {
	switch e.What {
	case tape.Poked:
		return []byte{byte(e.B >> 8)}
	case tape.Written:
		now := make([]byte, insn.JumpSize)
		for i := range now {
			now[i] = byte(e.B >> (8 * i))
		}
		return now
	}
	return nil
}
