package replay

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sonde/arch/amd64/listing"
)

const width = listing.Width

// WriteText prints rec, and that recording takes time.
func (rec *Recording) WriteText(w io.Writer) error {
	var b bytes.Buffer
	rec.head(&b)
	for _, c := range rec.Fused {
		fmt.Fprintf(&b, "      fused  %-24s  %s\n", listing.Bytes(c.Bytes), c.Asm)
	}
	for i := range rec.Frames {
		rec.line(&b, i)
		rec.details(&b, i)
	}
	rec.foot(&b)
	_, err := b.WriteTo(w)
	return err
}

// WriteSlide prints what fits a slide.
func (rec *Recording) WriteSlide(w io.Writer) error {
	var b bytes.Buffer
	rec.head(&b)
	for i := range rec.Frames {
		rec.line(&b, i)
		if i == 0 {
			rec.text(&b, rec.Frames[i].Text)
		}
	}
	rec.foot(&b)
	return listing.Slide(w, b.String())
}

// head says what was hit, by whom, and how.
func (rec *Recording) head(w io.Writer) {
	if rec.File == "" { // data has no line
		fmt.Fprintf(w, "glass: %s\n", rec.Place)
	} else {
		fmt.Fprintf(w, "glass: %s %s:%d\n", rec.Place, rec.File, rec.Line)
	}
	if len(rec.Frames) == 0 {
		fmt.Fprintf(w, "  no frame\n")
		return
	}
	f := &rec.Frames[0]
	who := fmt.Sprintf("goroutine %d", f.Goroutine)
	if f.PID != 0 {
		who = fmt.Sprintf("process %d, thread %d", f.PID, f.TID)
	}
	fmt.Fprintf(w, "  %s, CPU %d, hit %d, %s\n", who, f.CPU, rec.Hit, rec.Tier)
	if n := len(rec.Fused); n > 0 {
		fmt.Fprintf(w, "  without the camera the program is fused with the place: %d instructions\n", n)
	}
}

func (rec *Recording) foot(w io.Writer) {
	if rec.Lost > 0 {
		fmt.Fprintf(w, "  %d frames more are lost: there is no room for them\n", rec.Lost)
	}
	if !rec.Complete {
		fmt.Fprintf(w, "  the hit is not over: its call has not returned, or has met no witness\n")
	}
	fmt.Fprintf(w, "  (Times include the recording itself.)\n")
}

// Columns of a frame's line.
const (
	saysColumn = 4
	ipColumn   = 40
	timeRoom   = 10
)

// line prints a frame in one line: its number, what happens, IP, and the time since the frame before; two
// lines if that is too long.
func (rec *Recording) line(w io.Writer, i int) {
	f := &rec.Frames[i]
	line := fmt.Sprintf("%2d  %s", f.Seq, f.Says)
	if rec.moved(i) {
		to := "IP " + f.IP.Is
		if f.IP.Asm != "" {
			to += "  " + f.IP.Asm
		}
		if max(len(line)+2, ipColumn)+len(to) > width-timeRoom {
			rec.timed(w, i, line)
			fmt.Fprintln(w, listing.Cut(strings.Repeat(" ", 6)+to, width))
			return
		}
		line = fmt.Sprintf("%-*s%s", max(len(line)+2, ipColumn), line, to)
	}
	rec.timed(w, i, line)
}

// moved reports whether frame i shows another IP than the one before.
func (rec *Recording) moved(i int) bool {
	f := &rec.Frames[i]
	if f.IP == nil {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if p := rec.Frames[j].IP; p != nil {
			return p.Addr != f.IP.Addr
		}
	}
	return true
}

// timed prints line with the time since the frame before at its end.
func (rec *Recording) timed(w io.Writer, i int, line string) {
	if i == 0 {
		fmt.Fprintln(w, line)
		return
	}
	for len(line) > width-timeRoom {
		at := strings.LastIndexByte(line[:width-timeRoom], ' ')
		if at < saysColumn+2 {
			break
		}
		fmt.Fprintln(w, line[:at])
		line = strings.Repeat(" ", saysColumn+2) + line[at+1:]
	}
	fmt.Fprintf(w, "%-*s%*s\n", width-timeRoom, line, timeRoom, duration(rec.Frames[i].T-rec.Frames[i-1].T))
}

func duration(ns int64) string {
	if ns < 10_000 {
		return fmt.Sprintf("+%d ns", ns)
	}
	return fmt.Sprintf("+%d us", ns/1000)
}

// details prints bytes, registers and stack, as far as they have changed. IP and what it leads to are in
// the frame's line.
func (rec *Recording) details(w io.Writer, i int) {
	f := &rec.Frames[i]
	if f.Text != nil {
		rec.text(w, f.Text)
	}
	var cells []string
	for _, r := range f.Regs {
		if r.Name != "IP" {
			cells = append(cells, fmt.Sprintf("%s %#x", r.Name, r.Value))
		}
	}
	table(w, "regs", cells)
	for j, s := range f.Stack {
		name := "stack"
		if j > 0 {
			name = ""
		}
		fmt.Fprintln(w, listing.Cut(strings.TrimRight(fmt.Sprintf("      %-6s %#x: %#x %s", name, s.Addr, s.Value, s.Is), " "), width))
	}
}

// text prints the bytes at the place as they are and were.
func (rec *Recording) text(w io.Writer, now []byte) {
	const shown = 6
	if len(now) < shown || len(rec.Original) == 0 {
		return
	}
	var was []byte
	for _, c := range rec.Original {
		was = append(was, c.Bytes...)
	}
	fmt.Fprintf(w, "      %-6s %s ..  was %s ..  %s\n", "text", listing.Bytes(now[:shown]),
		listing.Bytes(was[:min(shown, len(was))]), rec.Original[0].Asm)
}

// table prints cells in columns.
func table(w io.Writer, name string, cells []string) {
	const column = 23
	for i, c := range cells {
		switch {
		case i%3 == 0 && i > 0:
			fmt.Fprintf(w, "\n%13s", "")
		case i == 0:
			fmt.Fprintf(w, "      %-6s ", name)
		}
		if i%3 == 2 || i == len(cells)-1 {
			fmt.Fprint(w, c)
		} else {
			fmt.Fprintf(w, "%-*s", column, c)
		}
	}
	if len(cells) > 0 {
		fmt.Fprintln(w)
	}
}
