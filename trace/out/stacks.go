package out

import (
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/trace/lang"
)

// StackCount is what a map has under a key that a stack is part of.
type StackCount struct {
	Labels []string         // the other parts of the key
	Frames []kallsyms.Named // the latest call first
	N      int64
}

// Stacks returns what is in a map whose keys have a stack.
func (p *Printer) Stacks(m *lang.Map, s Store) (all []*StackCount) {
	if !slices.ContainsFunc(m.Key, func(t lang.Type) bool { return t.Kind == lang.StackID }) || m.Value.Kind == lang.TSeries {
		return nil
	}
	entries := p.gather(m, s)
	p.sort(m, entries)
	for _, e := range entries {
		c := &StackCount{N: e.n[0]}
		key := []byte(e.key)
		for _, t := range m.Key {
			if t.Kind == lang.StackID {
				c.Frames = append(c.Frames, p.frames(t, int64(word(key)))...)
			} else {
				c.Labels = append(c.Labels, p.value(t, key))
			}
			key = key[t.Size():]
		}
		all = append(all, c)
	}
	return all
}

// frames are what is at the addresses of a stack.
func (p *Printer) frames(t lang.Type, id int64) (frames []kallsyms.Named) {
	if id < 0 {
		return nil
	}
	for i, addr := range p.Symbols.Stack(t, id) {
		frames = append(frames, p.frame(t, i, addr))
	}
	return frames
}

// frame is what is at address i of a stack. All but the first of a program's are return addresses, which may be after
// the end of the function that has called.
func (p *Printer) frame(t lang.Type, i int, addr uint64) kallsyms.Named {
	if t.User && i == 0 {
		return p.Symbols.Name(addr, true)
	}
	at := p.Symbols.Name(addr-1, t.User)
	if !at.Function && at.File == "" {
		return p.Symbols.Name(addr, t.User) // it is a number
	}
	at.Offset++
	return at
}

// SeriesPoint is the value of an interval of tseries().
type SeriesPoint struct {
	Name     string
	At       int64 // since boot, in ns
	Value    int64
	Unsigned bool // Value is the bits of a uint64
}

// Series returns the intervals of a map of tseries().
func (p *Printer) Series(m *lang.Map, s Store) (all []*SeriesPoint) {
	if m.Value.Kind != lang.TSeries {
		return nil
	}
	for _, e := range p.gather(m, s) {
		name := m.Name + brackets(p.keys(m, e))
		first, last := e.shown(m.Value)
		for n := first; n <= last; n++ {
			if i := e.intervals[n]; i != nil {
				all = append(all, &SeriesPoint{strings.TrimSpace(name), n * m.Value.Step, i.shows(m.Value), !m.Value.Signed})
			}
		}
	}
	return all
}
