package replay

import (
	"fmt"
	"slices"
	"strings"

	"sonde/qemu/draw"
)

// A View is a recording as it is shown: each frame has everything that is true in it.
type View struct {
	Place, Source, Tier, Facts string
	Warning                    string // what the recording lacks
	Explain                    string
	Frames                     []Frame
	CPUs                       []string // a lane each; nil: the recording is of one hit
}

// A Frame is a transition of a hit, or a step of a way.
type Frame struct {
	N, Of       int
	Stage, Says string
	Time, Meta  string
	Note        string // why registers are those of the frame before
	IP, Is, Asm string
	Rows        []Row
	Regs        []Reg
	Stack       []Word
	Lanes       []Lane
	Code        string // what has been written at the place, in a way
}

// A Row is bytes of code; those of all rows of a frame stand below each other.
type Row struct {
	Label, Addr string
	Cells       []Cell
	Note        string
}

// A Cell is a byte.
type Cell struct {
	Byte    string
	Differs bool // from the code as it was compiled
	At      bool // IP leads here
}

// A Reg is a register; Was says what it was if it has changed.
type Reg struct{ Name, Value, Letters, Was string }

// A Word is one on the stack; Was says what it was if it has changed.
type Word struct{ Offset, Value, Is, Was string }

// A Lane is what a CPU does at a step; "": nothing.
type Lane struct{ Name, Says string }

// Read makes a view of what glass -j or glass -o -j has printed.
//
// Errors: those of parse.
func Read(b []byte) (*View, error) {
	rec, err := parse(b)
	if err != nil {
		return nil, err
	}
	v := &View{Place: string(rec.Place), Tier: string(rec.Tier), Warning: rec.warning()}
	for _, line := range strings.Split(rec.Explain, "\n") {
		v.Explain += draw.Clean(strings.ReplaceAll(line, "\t", "    "), "") + "\n"
	}
	if v.Explain = strings.TrimSpace(v.Explain); rec.File != "" {
		v.Source = fmt.Sprintf("%s:%d", rec.File, rec.Line)
	}
	if rec.Frames == nil {
		rec.way(v)
		return v, nil
	}
	v.Facts = fmt.Sprintf("hit %d, %s", rec.Hit, rec.Frames[0].who())
	s := state{recording: rec, regs: map[string]word{}, stack: map[word]Word{}}
	for i := range rec.Frames {
		v.Frames = append(v.Frames, s.frame(i))
	}
	return v, nil
}

func (rec *recording) warning() string {
	var all []string
	if rec.Lost > 0 {
		all = append(all, fmt.Sprintf("%d more are lost: there was no room for them.", rec.Lost))
	}
	if rec.Frames != nil && !rec.Complete {
		all = append(all, "The hit was not over when the recording ended.")
	}
	return strings.Join(all, " ")
}

func (f *frame) who() string {
	if f.Who.PID != 0 {
		return fmt.Sprintf("process %d, thread %d", f.Who.PID, f.Who.TID)
	}
	return fmt.Sprintf("goroutine %d", f.Who.Goroutine)
}

// way puts the steps of a way into v.
func (rec *recording) way(v *View) {
	v.Tier = "from INT3 to jump, and back"
	v.Facts = fmt.Sprintf("%d CPUs", rec.CPUs)
	for i := range min(rec.CPUs, 64) {
		v.CPUs = append(v.CPUs, fmt.Sprintf("CPU %d", i))
	}
	last := int64(0)
	now := Row{Label: "at the place"}
	for i := range rec.Steps {
		s := &rec.Steps[i]
		f := Frame{N: i + 1, Of: len(rec.Steps), Stage: string(s.Step), Says: string(s.Says), Time: micros(s.T - last), Code: strings.Join(s.Text, " ")}
		f.Meta = fmt.Sprintf("CPU %d · %s, %s in all", s.CPU, f.Time, micros(s.T))
		for cpu, name := range v.CPUs {
			l := Lane{Name: name}
			if cpu == s.CPU {
				l.Says = f.Says
			}
			f.Lanes = append(f.Lanes, l)
		}
		if now.Note = ""; s.Text != nil {
			now.Cells, now.Note = cells(s.Text, nil, shown, -1), "◀ changed"
		}
		if now.Cells != nil {
			f.Rows = []Row{now}
		}
		last = s.T
		v.Frames = append(v.Frames, f)
	}
}

// micros is a time in microseconds.
func micros(ns int64) string {
	tenths := (max(0, ns) + 50) / 100
	return fmt.Sprintf("+%d.%d µs", tenths/10, tenths%10)
}

// state is what holds before the next frame.
type state struct {
	*recording
	regs  map[string]word
	text  hexes         // at the place
	stack map[word]Word // by address
	copy  Row           // of the instruction, in a slot or a detour
	at    word          // where the copy is
	last  int64
}

// regNames are the registers in the order in which they are shown: Go's arguments first.
var regNames = strings.Fields("AX BX CX DI SI R8 R9 R10 R11 DX R12 R13 R14 R15 BP SP IP FLAGS")

// frame makes the next frame.
func (s *state) frame(i int) Frame {
	f := &s.Frames[i]
	out := Frame{N: i + 1, Of: len(s.Frames), Stage: string(f.Stage), Says: string(f.Says), Time: micros(f.T - s.last)}
	out.Meta = fmt.Sprintf("CPU %d · %s, %s in all", f.CPU, out.Time, micros(f.T))
	s.last = f.T
	if f.IP == nil && len(f.Regs) == 0 {
		out.Note = "Nothing else is recorded here. What follows is as in the frame before."
	}
	was := s.text
	if f.Text != nil {
		s.text = f.Text
	}
	for _, name := range regNames {
		if r, ok := s.reg(f, name, i > 0); ok {
			out.Regs = append(out.Regs, r)
		}
	}
	if f.IP != nil {
		out.IP, out.Is, out.Asm = f.IP.Addr.String(), string(f.IP.Is), string(f.IP.Asm)
	}
	out.Rows = s.rows(f, was)
	out.Stack = s.words(f, i > 0)
	return out
}

// reg is a register as it is in f; ok: it is known.
func (s *state) reg(f *frame, name string, before bool) (r Reg, ok bool) {
	was, known := s.regs[name]
	now, changed := f.Regs[name]
	if changed {
		s.regs[name] = now
	} else if now = was; !known {
		return r, false
	}
	r = Reg{Name: name, Value: now.String()}
	if name == "FLAGS" {
		r.Letters = strings.Join(letters(now), " ")
	}
	if changed && before && !known {
		r.Was = "new"
	} else if changed && before {
		r.Was = turned(name, was, now) + "was " + was.String()
	}
	return r, true
}

// flags are the bits of FLAGS by name.
var flags = []struct {
	bit  int
	name string
}{{0, "CF"}, {2, "PF"}, {4, "AF"}, {6, "ZF"}, {7, "SF"}, {8, "TF"}, {9, "IF"}, {10, "DF"}, {11, "OF"}, {16, "RF"}}

// letters are the names of the flags that are set.
func letters(w word) (all []string) {
	for _, f := range flags {
		if w>>f.bit&1 != 0 {
			all = append(all, f.name)
		}
	}
	return all
}

// turned says which flags have been set and cleared.
func turned(name string, was, now word) (s string) {
	if name != "FLAGS" {
		return ""
	}
	for _, n := range letters(now &^ was) {
		s += "+" + n + " "
	}
	for _, n := range letters(was &^ now) {
		s += "−" + n + " "
	}
	return s
}

// words are those on the stack from SP on.
func (s *state) words(f *frame, before bool) (all []Word) {
	changed := map[word]string{}
	for _, w := range f.Stack {
		if old, known := s.stack[w.Addr]; before && known && old.Value != w.Word.String() {
			changed[w.Addr] = "was " + old.Value
		} else if before && !known {
			changed[w.Addr] = "new"
		}
		s.stack[w.Addr] = Word{Value: w.Word.String(), Is: string(w.Is)}
	}
	sp := s.regs["SP"]
	for n := word(0); n < 8; n++ {
		if w, ok := s.stack[sp+8*n]; ok {
			w.Offset, w.Was = fmt.Sprintf("SP+%#x", uint64(8*n)), changed[sp+8*n]
			all = append(all, w)
		}
	}
	return all
}

// shown is how many bytes of a row are shown at least, if there are so many.
const shown = 10

// rows are the bytes of the place as it was compiled and as it is, and of the copy or what IP leads to.
func (s *state) rows(f *frame, was hexes) (all []Row) {
	var original hexes
	var asm []string
	for _, c := range s.Original {
		original = append(original, c.Bytes...)
		asm = append(asm, string(c.Asm))
	}
	n := max(shown, len(original))
	ip, inSite := word(0), false
	if f.IP != nil {
		ip = f.IP.Addr
	}
	if len(original) > 0 {
		site := s.Original[0].Addr
		inSite = f.IP != nil && ip-site < word(n)
		all = append(all, Row{Label: "as compiled", Addr: site.String(), Cells: cells(original, nil, n, -1), Note: strings.Join(asm, "; ")})
		if s.text != nil {
			at := -1
			if inSite {
				at = int(ip - site)
			}
			now := Row{Label: "in memory", Addr: site.String(), Cells: cells(s.text, original, n, at)}
			now.Note = differ(now.Cells)
			if was != nil && !slices.Equal(was, s.text) {
				now.Note += " ◀ changed"
			}
			all = append(all, now)
		}
	}
	if f.IP == nil || inSite || f.IP.Bytes == nil {
		return all
	}
	if label := copies[f.Stage]; label != "" && (s.copy.Label != label || ip-s.at >= word(n)) {
		s.at, s.copy = ip, Row{Label: label, Addr: ip.String(), Cells: cells(f.IP.Bytes, original, n, -1)}
	}
	if s.copy.Label != "" && ip-s.at < word(len(s.copy.Cells)) {
		row := s.copy
		row.Cells = slices.Clone(row.Cells)
		row.Cells[ip-s.at].At = true
		row.Note = string(f.IP.Asm)
		return append(all, row)
	}
	return append(all, Row{Label: "at IP", Addr: ip.String(), Cells: cells(f.IP.Bytes, nil, n, 0), Note: string(f.IP.Asm)})
}

// copies says at which stages IP leads to a copy of the instruction, and where that is.
var copies = map[text]string{"to-slot": "slot", "to-step": "slot", "stepped": "slot", "to-detour": "detour"}

// cells are at most n bytes, compared with the original; nil: with nothing. IP leads to byte at.
func cells(b, original hexes, n, at int) (all []Cell) {
	for i, s := range b[:min(n, len(b))] {
		all = append(all, Cell{Byte: s, Differs: i < len(original) && s != original[i], At: i == at})
	}
	return all
}

// differ says how many bytes differ from the original, and what the first is.
func differ(cells []Cell) string {
	n := 0
	for _, c := range cells {
		if c.Differs {
			n++
		}
	}
	first := ""
	switch {
	case n == 0:
		return "the same"
	case cells[0].Differs:
		first = map[string]string{"cc": ": cc is INT3", "e9": ": e9 is JMP"}[cells[0].Byte]
	}
	if n == 1 {
		return "1 byte differs" + first
	}
	return fmt.Sprintf("%d bytes differ%s", n, first)
}
