package pcln

import "slices"

// A Measure says what functions take of a pclntab, and of go:func.*. Of what several share, the first that is taken has
// all. It is for tables that the linker has written: what is wrong in them is not found.
type Measure struct {
	sizes map[uint32]int  // of what is in go:func.*, by its place; what is taken is not there
	taken map[uint32]bool // steps
}

// Measure begins to measure t.
func (t *Table) Measure() *Measure {
	m := &Measure{sizes: map[uint32]int{}, taken: map[uint32]bool{}}
	var places []uint32
	for i := range t.n {
		_, data := t.Func(i).refers()
		places = append(places, data...)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for i := range len(places) - 1 {
		if places[i+1] != none {
			m.sizes[places[i]] = int(places[i+1] - places[i])
		}
	}
	return m
}

// refers returns the offsets of a function's steps, and of what is in go:func.* of it.
func (f Func) refers() (steps, data []uint32) {
	for _, off := range []int{recStack, recFiles, recLines} {
		steps = append(steps, u32(f.record, off))
	}
	end := f.t.record + 4*int(u32(f.record, recPCData))
	for at := f.t.record; at < end; at += 4 {
		steps = append(steps, u32(f.record, at))
	}
	for i := range f.Tables() {
		data = append(data, u32(f.record, end+4*i))
	}
	return steps, data
}

// Take returns how many bytes a function has that no other one has taken.
func (m *Measure) Take(f Func) int {
	steps, data := f.refers()
	const place = 8 // in the list of functions
	size := place + f.t.record + 4*(len(steps)-3+len(data)) + len(f.Name()) + 1
	for _, at := range steps {
		if at != 0 && !m.taken[at] {
			m.taken[at] = true
			size += sizeOf(f.t.steps[at:])
		}
	}
	for _, at := range data {
		size += m.sizes[at]
		delete(m.sizes, at)
	}
	return size
}

// sizeOf is how many bytes a table of steps has: pairs of numbers, which end with a first number of 0 that is not the
// first one.
func sizeOf(b []byte) int {
	for i, first := 0, true; ; first = false {
		if b[i] == 0 && !first {
			return i + 1
		}
		for range 2 {
			for b[i]&0x80 != 0 {
				i++
			}
			i++
		}
	}
}
