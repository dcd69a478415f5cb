package replay

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/listing"
	"sonde/kernel/glass"
)

// A Way is what happens to the machine while a probe is registered, becomes a jump, and is unregistered
// again.
type Way struct {
	Take   // Addr, Symbol, Line, Nanos
	Events []glass.Event
	Lost   int
	CPUs   int
}

// relevant reports whether e is about the place, or about all of the machine.
func (w *Way) relevant(e *glass.Event) bool {
	return e.What != glass.Poked && e.What != glass.Written || e.A == w.Addr
}

// WriteText prints a line for each event.
func (w *Way) WriteText(out io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "glass: %s from INT3 to jump, and back, on %d CPUs\n", w.where(w.Addr), w.CPUs)
	n, last := 0, uint64(0)
	for i := range w.Events {
		e := &w.Events[i]
		if !w.relevant(e) {
			continue
		}
		if n++; n == 1 {
			last = e.Time
		}
		rec := Recording{Frames: []Frame{{}, {T: w.Nanos(max(e.Time, last) - last)}}}
		rec.timed(&b, 1, fmt.Sprintf("%2d  CPU %d  %s", n, e.CPU, w.happens(e)))
		last = max(e.Time, last)
	}
	if w.Lost > 0 {
		fmt.Fprintf(&b, "  %d events more are lost: there is no room for them\n", w.Lost)
	}
	fmt.Fprintf(&b, "  (Times include the recording itself.)\n")
	_, err := b.WriteTo(out)
	return err
}

// WriteSlide prints what fits a slide.
func (w *Way) WriteSlide(out io.Writer) error {
	var b bytes.Buffer
	if err := w.WriteText(&b); err != nil {
		return err
	}
	return listing.Slide(out, b.String())
}

// ways are how a CPU passes a scheduling point, in words.
var ways = [...]string{glass.BySwitch: "by a switch of goroutines", glass.ByIdling: "it is idle", glass.InProgram: "it runs a program"}

// happens says what e is.
func (w *Way) happens(e *glass.Event) string {
	switch e.What {
	case glass.Poked:
		return fmt.Sprintf("byte poked at %s: %02x -> %02x", w.where(w.Addr), byte(e.B), byte(e.B>>8))
	case glass.Serialized:
		return "serializes; was at " + w.where(e.A)
	case glass.DetourMade:
		return fmt.Sprintf("detour made at %#x, which hits use from now on", e.A)
	case glass.GraceBegins:
		return "grace period begins"
	case glass.Passed:
		return "has passed a scheduling point: " + ways[min(e.A, uint64(len(ways)-1))]
	case glass.GraceOver:
		return "grace period is over"
	case glass.Stopping:
		return "stops the others"
	case glass.Held:
		if e.A > w.Addr && e.A < w.Addr+insn.JumpSize {
			return "stands still at " + w.where(e.A) + ", in the region"
		}
		return "stands still at " + w.where(e.A)
	case glass.Written:
		var now [insn.JumpSize]byte
		for i := range now {
			now[i] = byte(e.B >> (8 * i))
		}
		return "bytes written: " + listing.Bytes(now[:])
	case glass.LetGo:
		return "goes on"
	}
	return "the machine goes on; it stood for " + strings.TrimPrefix(duration(int64(e.A)), "+")
}
