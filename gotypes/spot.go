package gotypes

import (
	"slices"

	"sonde/gotypes/squeeze"
)

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
	f := newFormat(squeeze.NewReader(t.copies), Memory{})
	f.info = *t.info
	if f.copies(); f.err != nil {
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

const (
	mostWords = 64 // of an argument
	regWidth  = 4  // bits of a register's number
)

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
		if next = f.number(next, colCopy); next == 0 {
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
		f.info.Funcs[i].Copies = f.copiesOf(given, &f.info.Funcs[i], uint32(i))
	}
}

func (f *format) copiesOf(given [][]Spot, fn *Func, number uint32) (copies [][]Spot) {
	before := uint32(0) // of which copies something was known
	for k := range f.length(len(given)) {
		var spots []Spot
		if k < len(given) {
			spots = given[k]
		}
		known := f.flag(spots != nil, colKnown, number, squeeze.Hash(number, before))
		if before = before << 1 & 0xF; known {
			before |= 1
			spots = f.copyOf(spots, fn, number)
		}
		if copies = append(copies, spots); f.count > maxParams || f.failed() {
			return nil
		}
		f.count += 1 + len(fn.Params)
	}
	return copies
}

// copyOf codes the places of a copy of which something is known.
func (f *format) copyOf(given []Spot, fn *Func, number uint32) []Spot {
	spots, last := make([]Spot, len(fn.Params)), uint32(0)
	for i, p := range fn.Params {
		var s Spot
		if i < len(given) {
			s = given[i]
		}
		of := squeeze.Hash(number, uint32(i))
		s = f.spot(s, squeeze.Hash(uint32(p.Type), uint32(i), last), of, squeeze.Hash(of, last))
		last = squeeze.Hash(last, uint32(len(s.Regs)))
		for _, r := range s.Regs {
			last = squeeze.Hash(last, uint32(r))
		}
		spots[i] = s
	}
	return spots
}

// spot codes one place; the contexts tell the argument and what is around it.
func (f *format) spot(s Spot, typed, of, last uint32) Spot {
	what := spotNone
	switch {
	case s.OnStack:
		what = spotStack
	case len(s.Regs) > 0:
		what = spotRegs + len(s.Regs)
	}
	switch what = f.number(what, colSpot, typed, of, last); {
	case what == spotStack:
		return Spot{OnStack: true, Stack: f.number(s.Stack, colSlot, typed, of)}
	case what > spotRegs+mostWords:
		f.fail("an argument in %d registers", what-spotRegs)
		return Spot{}
	case what <= spotRegs:
		return Spot{}
	}
	var regs []uint8
	r := uint32(0)
	for i := range what - spotRegs {
		var v uint32
		if i < len(s.Regs) {
			v = uint32(s.Regs[i])
		}
		r = f.Index(v, regWidth, colReg, squeeze.Hash(typed, uint32(i), r), squeeze.Hash(of, uint32(i), r), squeeze.Hash(last, uint32(i), r))
		regs = append(regs, uint8(r))
	}
	return Spot{Regs: regs}
}
