package gotypes

import "slices"

// Copies returns where the arguments are in each inlined copy of the function at an address: see Func.
func (t *Table) Copies(addr uint64) [][]Spot {
	i := t.function(addr)
	if i < 0 {
		return nil
	}
	t.readCopies.Do(t.unpackCopies)
	return t.info.Funcs[i].Copies
}

// unpackCopies reads the copies of all functions; of a damaged table, none.
func (t *Table) unpackCopies() {
	f := newFormat(unpackNumbers(t.copies), Memory{})
	f.info = *t.info
	if f.copies(); f.failed() {
		for i := range t.info.Funcs {
			t.info.Funcs[i].Copies = nil
		}
	}
}

// What a Spot may be, beside how many registers there are plus spotRegs.
const (
	spotNone = iota
	spotStack
	spotRegs // 0 registers
)

const mostWords = 64 // of an argument

// copies codes where the arguments of copies are.
func (f *format) copies() {
	i := -1
	for !f.failed() {
		next := 0 // there is none
		if f.given != nil {
			if k := slices.IndexFunc(f.given.Funcs[i+1:], func(fn Func) bool { return fn.Copies != nil }); k >= 0 {
				next = k + 1
			}
		}
		if next = f.number(next); next == 0 {
			return
		}
		if i += next; i >= len(f.info.Funcs) {
			f.fail("copies of function %d of %d", i, len(f.info.Funcs))
			return
		}
		var given [][]Spot
		if f.given != nil {
			given = f.given.Funcs[i].Copies
		}
		f.info.Funcs[i].Copies = f.copiesOf(given, &f.info.Funcs[i])
	}
}

func (f *format) copiesOf(given [][]Spot, fn *Func) (copies [][]Spot) {
	for k := range f.length(len(given)) {
		var spots []Spot
		if k < len(given) {
			spots = given[k]
		}
		if f.flag(spots != nil) {
			spots = f.copyOf(spots, fn)
		}
		if copies = append(copies, spots); f.count > maxParams || f.failed() {
			return nil
		}
		f.count += 1 + len(fn.Params)
	}
	return copies
}

// copyOf codes the places of a copy of which something is known.
func (f *format) copyOf(given []Spot, fn *Func) []Spot {
	spots := make([]Spot, len(fn.Params))
	for i := range spots {
		var s Spot
		if i < len(given) {
			s = given[i]
		}
		spots[i] = f.spot(s)
	}
	return spots
}

// spot codes one place.
func (f *format) spot(s Spot) Spot {
	what := spotNone
	switch {
	case s.OnStack:
		what = spotStack
	case len(s.Regs) > 0:
		what = spotRegs + len(s.Regs)
	}
	switch what = f.number(what); {
	case what == spotStack:
		return Spot{OnStack: true, Stack: f.number(s.Stack)}
	case what > spotRegs+mostWords:
		f.fail("an argument in %d registers", what-spotRegs)
		return Spot{}
	case what <= spotRegs:
		return Spot{}
	}
	var regs []uint8
	for i := range what - spotRegs {
		v := 0
		if i < len(s.Regs) {
			v = int(s.Regs[i])
		}
		regs = append(regs, uint8(f.number(v)))
	}
	return Spot{Regs: regs}
}
