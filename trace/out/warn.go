package out

import (
	"fmt"
	"io"
	"strings"

	"sonde/trace/lang"
)

// warning is what a place in the script gives rise to, maybe at each hit.
type warning struct {
	a    *lang.Action
	last int64 // when it was printed, in ns
	more int   // times since then
}

// warnAgain is after how many ns a warning of the same place is printed again.
const warnAgain = 1e9

// warn prints a warning of a hit at a time, unless one of that place has just been printed: then it is counted.
func (p *Printer) warn(a *lang.Action, now int64) error {
	for _, w := range p.warnings {
		if w.a.Span == a.Span && w.a.Format == a.Format {
			if w.more++; now-w.last < warnAgain {
				return nil
			}
			w.last = now
			return p.times(w)
		}
	}
	p.warnings = append(p.warnings, &warning{a: a, last: now})
	return p.complain(a, a.Format)
}

// Warnings prints those that have been counted since they were printed.
func (p *Printer) Warnings() error {
	for _, w := range p.warnings {
		if err := p.times(w); err != nil {
			return err
		}
	}
	return nil
}

// times prints how often there was a warning since it was last printed.
func (p *Printer) times(w *warning) error {
	why := w.a.Format
	if w.more > 1 {
		why += fmt.Sprintf(" (%d times)", w.more)
	} else if w.more == 0 {
		return nil
	}
	w.more = 0
	return p.complain(w.a, why)
}

// complain prints an error or a warning, with its place in the script.
func (p *Printer) complain(a *lang.Action, why string) error {
	if a.Kind != lang.ErrorF && p.NoWarnings {
		return nil
	}
	e := &lang.Error{Source: p.Unit.Script.Source, Span: a.Span, Why: strings.TrimSuffix(why, "\n"), Warning: a.Kind != lang.ErrorF}
	w := p.Err
	if w == nil {
		w = p.W
	}
	if p.JSON {
		w = nil
	}
	text := e.Text(w) + "\n"
	for _, via := range a.Via {
		from := &lang.Error{Source: e.Source, Span: via, Why: "expanded from"}
		text += from.Text(w) + "\n"
	}
	if p.JSON {
		return p.object("stderr", Quote(text))
	}
	_, err := io.WriteString(w, text)
	return err
}
