package gotypes

import (
	"cmp"
	"slices"

	"sonde/gotypes/squeeze"
)

// Copies returns where the arguments are in each inlined copy of the function at an address: see Func.
func (t *Table) Copies(addr uint64) [][]Spot {
	i, ok := slices.BinarySearchFunc(t.info.Funcs, addr, func(f Func, a uint64) int { return cmp.Compare(f.Addr, a) })
	if !ok {
		return nil
	}
	return t.info.Funcs[i].Copies
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
	before := make([]uint32, len(fn.Params)) // what the last copy had
	for k := range f.length(len(given)) {
		var spots []Spot
		if k < len(given) {
			spots = given[k]
		}
		read, known, last := make([]Spot, len(fn.Params)), false, uint32(0)
		for i, p := range fn.Params {
			var s Spot
			if i < len(spots) {
				s = spots[i]
			}
			of := squeeze.Hash(number, uint32(i))
			s = f.spot(s, of, squeeze.Hash(of, before[i]), squeeze.Hash(uint32(p.Type), uint32(i), last), squeeze.Hash(of, last))
			last = squeeze.Hash(last, uint32(len(s.Regs)))
			for _, r := range s.Regs {
				last = squeeze.Hash(last, uint32(r))
			}
			before[i] = uint32(len(s.Regs))
			read[i], known = s, known || s.Known()
		}
		if !known {
			read = nil
		}
		if copies = append(copies, read); f.count > maxParams || f.failed() {
			return nil
		}
		f.count += 1 + len(fn.Params)
	}
	return copies
}

// spot codes one place; the contexts tell the argument and what is around it.
func (f *format) spot(s Spot, of, before, typed, last uint32) Spot {
	what := spotNone
	switch {
	case s.OnStack:
		what = spotStack
	case len(s.Regs) > 0:
		what = spotRegs + len(s.Regs)
	}
	switch what = f.number(what, colSpot, typed, of, before, last); {
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
		r = f.Index(v, regWidth, colReg, squeeze.Hash(uint32(i), r), squeeze.Hash(typed, uint32(i), r), squeeze.Hash(of, uint32(i), r), squeeze.Hash(last, uint32(i), r))
		regs = append(regs, uint8(r))
	}
	return Spot{Regs: regs}
}
