package pcln

import (
	"bytes"
	"maps"
	"slices"
)

// A Part is code in one function: that of a line, or a copy of a function.
type Part struct {
	Func  Func
	Copy  int // -1: it is no copy's
	Spans []Span
}

// Line returns the code of a line of a file, by the file's whole name: a Part for each function, and
// for each copy, that it is in.
func (t *Table) Line(file string, line int) (parts []Part) {
	t.inFile(file, func(f Func, s Span) {
		if s.Line != line {
			return
		}
		for i := len(parts) - 1; i >= 0 && parts[i].Func.Addr == f.Addr; i-- {
			if parts[i].Copy == s.Copy {
				parts[i].Spans = append(parts[i].Spans, s)
				return
			}
		}
		parts = append(parts, Part{f, s.Copy, []Span{s}})
	})
	return parts
}

// Lines returns the lines of a file that have code, ascending.
func (t *Table) Lines(file string) []int {
	lines := map[int]bool{}
	t.inFile(file, func(_ Func, s Span) { lines[s.Line] = true })
	return slices.Sorted(maps.Keys(lines))
}

// Files calls yield for the names of all files.
func (t *Table) Files(yield func(string) bool) {
	t.eachFile(func(_ uint32, name []byte) bool { return yield(string(name)) })
}

func (t *Table) eachFile(yield func(off uint32, name []byte) bool) {
	off := uint32(0)
	for range t.nfiles {
		name, _, more := bytes.Cut(from(t.files, off), []byte{0})
		if !more || !yield(off, name) {
			return
		}
		off += uint32(len(name)) + 1
	}
}

// inFile calls f for all code of a file.
func (t *Table) inFile(file string, f func(Func, Span)) {
	wanted := none
	t.eachFile(func(off uint32, name []byte) bool {
		if string(name) == file {
			wanted = off
		}
		return wanted == none
	})
	for i := 0; i < t.n && wanted != none; i++ {
		fn := t.Func(i)
		if !fn.touches(wanted) {
			continue
		}
		for s := range fn.Spans {
			if s.file == wanted && s.Line > 0 {
				f(fn, s)
			}
		}
	}
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
