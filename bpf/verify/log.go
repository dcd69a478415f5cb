package verify

import (
	"fmt"
	"strings"

	"sonde/bpf"
)

// logger writes what Linux's verifier writes for the levels 1 and 2. At level 1, what a path that
// was found safe has written is taken back, so that only the path that failed is left.
type logger struct {
	level    int
	text     []byte
	insn     string // of the instruction that is walked
	lastLine *bpf.Line
}

// maxLog bounds the log, in bytes.
const maxLog = 16 << 20

func (l *logger) len() int       { return len(l.text) }
func (l *logger) String() string { return string(l.text) }

func (l *logger) line(format string, args ...any) {
	if l.level > 0 && len(l.text) < maxLog {
		l.text = append(fmt.Appendf(l.text, format, args...), '\n')
	}
}

// resume begins a path.
func (l *logger) resume(p path, w *walk) {
	if l.level == 0 {
		return
	}
	if l.level == 1 {
		l.text = l.text[:min(p.mark, len(l.text))]
	}
	if p.from < 0 {
		l.line("func#0 @%d", p.state.pc)
		l.line("%d: %s", p.state.pc, describe(p.state, false))
		return
	}
	l.line("")
	l.line("from %d to %d: %s", p.from, p.state.pc, describe(p.state, false))
	l.lastLine = nil
}

// before writes the source line, if a new one begins.
func (l *logger) before(w *walk, s *state) {
	f := s.top()
	f.changed, f.words = 0, 0
	if l.level == 0 {
		return
	}
	if line := w.program.LineOf(s.pc); line != nil && line != l.lastLine {
		l.line("; %s @ %s:%d", line.Text, line.File, line.Number)
		l.lastLine = line
	}
	l.insn = fmt.Sprintf("%d: (%02x) %s", s.pc, w.flow.insns[s.pc].Op, text(w, s.pc))
}

// after writes the instruction, and what it has changed.
func (l *logger) after(w *walk, s *state) {
	if l.level == 0 {
		return
	}
	changes := ""
	if s != nil {
		changes = describe(s, true)
	}
	if changes == "" {
		l.line("%s", l.insn)
	} else {
		l.line("%-38s; %s", l.insn, changes)
	}
	l.insn = ""
}

// refused writes the instruction that is refused, and why.
func (l *logger) refused(why string) {
	if l.insn != "" {
		l.line("%s", l.insn)
	}
	l.line("%s", why)
}

// pruned writes that a path needs not be followed.
func (l *logger) pruned(w *walk, s *state) {
	if l.level > 1 {
		l.line("%d: safe", s.pc)
	}
}

// summary writes the last line.
func (l *logger) summary(w *walk) {
	most := 0
	for pc := range w.done {
		most = max(most, len(w.done[pc])+len(w.open[pc]))
	}
	l.line("processed %d insns (limit %d) max_states_per_insn %d total_states %d peak_states %d mark_read 0",
		w.steps, w.env.Limits.Steps, most, w.states, w.peak)
}

// describe lists registers and words of stack, all or those that were changed.
func describe(s *state, changed bool) string {
	f := s.top()
	var parts []string
	for i := range f.regs {
		r := &f.regs[i]
		if r.kind == unset || changed && f.changed&(1<<i) == 0 {
			continue
		}
		mark := ""
		if f.written&(1<<i) != 0 {
			mark = "_w"
		}
		parts = append(parts, fmt.Sprintf("R%d%s=%s", i, mark, r))
	}
	for i, sl := range f.slots {
		if sl == nil || changed && f.words&(1<<i) == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("fp-%d=%s", (i+1)*wordSize, sl))
	}
	return strings.Join(parts, " ")
}

// String is the value that fills the word, or a letter for each byte.
func (sl *slot) String() string {
	if sp := sl.spills[0]; sp != nil && sp.bytes == wordSize {
		return sp.String()
	}
	letters := [...]byte{nothing: '?', misc: 'm', zero: '0', spilled: 'r'}
	text := make([]byte, wordSize)
	for i, k := range sl.kinds {
		text[wordSize-1-i] = letters[k]
	}
	return string(text)
}
