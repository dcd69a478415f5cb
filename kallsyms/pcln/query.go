package pcln

import (
	"maps"
	"slices"
	"strings"
)

// A Part is code in one function: that of a line, or a copy of a function.
type Part struct {
	Func  Func
	Copy  int // -1: it is no copy's
	Spans []Span
}

// Line returns the code of a line of a file, by the file's whole name: a Part for each function, and
// for each copy, that it is in. The copies that it calls are part of it.
func (t *Table) Line(file string, line int) []Part { return t.Between(file, line, line)[line] }

// Between is Line of all lines from first to last, by line, in one walk through all functions.
func (t *Table) Between(file string, first, last int) map[int][]Part {
	all := map[int][]Part{}
	t.inFile(file, func(f Func, s Span, in frame) {
		if in.line < first || in.line > last {
			return
		}
		parts := all[in.line]
		for i := len(parts) - 1; i >= 0 && parts[i].Func.Addr == f.Addr; i-- {
			p := &parts[i]
			if p.Copy != in.copy {
				continue
			}
			if p.Spans[len(p.Spans)-1] != s { // a line may call itself
				p.Spans = append(p.Spans, s)
			}
			return
		}
		all[in.line] = append(parts, Part{f, in.copy, []Span{s}})
	})
	return all
}

// Extent returns the file of the function's entry, and the first and the last line there that have code of it;
// "": it has none.
func (f Func) Extent() (file string, first, last int) {
	calls := map[int]frame{}
	from := none
	for s := range f.Spans {
		in := frame{s.Copy, s.Line, s.file}
		for in.copy >= 0 {
			in = f.caller(in.copy, calls)
		}
		if from == none {
			from, first, last = in.file, in.line, in.line
		}
		if in.file == from && in.line > 0 {
			first, last = min(first, in.line), max(last, in.line)
		}
	}
	if from == none {
		return "", 0, 0
	}
	return text(f.t.files, from), first, last
}

// Lines returns the lines of a file that have code, ascending.
func (t *Table) Lines(file string) []int {
	lines := map[int]bool{}
	t.inFile(file, func(_ Func, _ Span, in frame) { lines[in.line] = true })
	return slices.Sorted(maps.Keys(lines))
}

// Files calls yield for the names of all files.
func (t *Table) Files(yield func(string) bool) {
	t.eachFile(func(_ uint32, name string) bool { return yield(name) })
}

func (t *Table) eachFile(yield func(off uint32, name string) bool) {
	off := uint32(0)
	for range t.nfiles {
		rest := t.files[min(uint64(off), uint64(len(t.files))):]
		name, _, more := strings.Cut(rest, "\x00")
		if !more || !yield(off, name) {
			return
		}
		off += uint32(len(name)) + 1
	}
}

// inFile calls f for all code of a file, with where in that file it is.
func (t *Table) inFile(file string, f func(Func, Span, frame)) {
	wanted := none
	t.eachFile(func(off uint32, name string) bool {
		if name == file {
			wanted = off
		}
		return wanted == none
	})
	for i := 0; i < t.n && wanted != none; i++ {
		fn := t.Func(i)
		if !fn.touches(wanted) {
			continue
		}
		calls := map[int]frame{}
		for s := range fn.Spans {
			for in := (frame{s.Copy, s.Line, s.file}); ; in = fn.caller(in.copy, calls) {
				if in.file == wanted && in.line > 0 {
					f(fn, s, in)
				}
				if in.copy < 0 {
					break
				}
			}
		}
	}
}

// A frame is a line in a copy.
type frame struct {
	copy, line int
	file       uint32
}

// caller returns the line that calls copy i; known are those that have been looked for.
func (f Func) caller(i int, known map[int]frame) frame {
	if in, ok := known[i]; ok {
		return in
	}
	in := frame{-1, 0, none}
	if c, ok := f.call(i); ok {
		in.copy = f.parent(i)
		files, lines := f.values(recFiles), f.values(recLines)
		if files.to(c.from) != 0 && lines.to(c.from) != 0 {
			in.file, in.line = f.t.file(u32(f.record, recUnit), files.value), int(lines.value)
		}
	}
	known[i] = in
	return in
}

// touches reports whether any code of the function is of a file.
func (f Func) touches(file uint32) bool {
	s, unit := f.values(recFiles), u32(f.record, recUnit)
	for at := f.Addr; at < f.End; at = s.end {
		if s.to(at) == 0 {
			return false
		}
		if f.t.file(unit, s.value) == file {
			return true
		}
	}
	return false
}

// Copies returns all copies of the functions whose names fit, each with the copies in it.
func (t *Table) Copies(fits func(name string) bool) (parts []Part) {
	known := map[uint32]bool{} // by the offset of the name
	ofFit := func(name uint32) bool {
		is, asked := known[name]
		if !asked {
			is = fits(t.name(name))
			known[name] = is
		}
		return is
	}
	for i := range t.n {
		if f := t.Func(i); f.hasCopies() {
			parts = append(parts, f.copies(ofFit)...)
		}
	}
	return parts
}

// hasCopies reports whether anything is inlined.
func (f Func) hasCopies() bool {
	_, ok := f.call(0)
	return ok
}

// copies returns the copies in f of functions whose names fit.
func (f Func) copies(fits func(name uint32) bool) (parts []Part) {
	index := map[int]int{} // in parts, by the number of the copy
	for s := range f.Spans {
		for c := s.Copy; c >= 0; c = f.parent(c) {
			at, seen := index[c]
			if !seen {
				at = -1
				if called, ok := f.call(c); ok && fits(called.name) {
					at = len(parts)
					parts = append(parts, Part{Func: f, Copy: c})
				}
				index[c] = at
			}
			if at >= 0 {
				parts[at].Spans = append(parts[at].Spans, s)
			}
		}
	}
	return parts
}

// Inlined calls yield for the names of all functions of which there are copies, each once.
func (t *Table) Inlined(yield func(string) bool) {
	seen := map[uint32]bool{}
	for i := range t.n {
		f := t.Func(i)
		if !f.hasCopies() {
			continue
		}
		s := f.inlined()
		for at := f.Addr; at < f.End && s.to(at) != 0; at = s.end {
			for c := int(s.value); c >= 0; c = f.parent(c) {
				called, ok := f.call(c)
				if !ok || seen[called.name] {
					continue
				}
				seen[called.name] = true
				if !yield(f.t.name(called.name)) {
					return
				}
			}
		}
	}
}
