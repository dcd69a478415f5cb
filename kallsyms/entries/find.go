package entries

import (
	"cmp"
	"slices"

	"sonde/arch/amd64/insn"
)

// Func is where a function is.
type Func struct{ Addr, Size uint64 }

// End returns the first address after the function.
func (f Func) End() uint64 { return f.Addr + f.Size }

// finder looks for what leads from one function into the middle of another.
type finder struct {
	funcs []Func // ascending, one per address
	found []uint64
}

// Find returns the addresses inside functions that other functions branch to,
// call or compute, each as often as it occurs. text is the code at address
// base; funcs may come in any order, with several for one address.
func Find(text []byte, base uint64, funcs []Func) []uint64 {
	f := finder{funcs: slices.Clone(funcs)}
	slices.SortFunc(f.funcs, func(a, b Func) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Size, a.Size)) // Compact keeps the longest
	})
	f.funcs = slices.CompactFunc(f.funcs, func(a, b Func) bool { return a.Addr == b.Addr })
	for _, fn := range f.funcs {
		if fn.Addr >= base && fn.End() >= fn.Addr && fn.End()-base <= uint64(len(text)) {
			f.function(fn, text[fn.Addr-base:fn.End()-base])
		}
	}
	return f.found
}

// function looks at every instruction of fn. After bytes that are none it goes
// on with the next byte: what is found in data by chance costs a function at most.
func (f *finder) function(fn Func, code []byte) {
	for off := 0; off < len(code); {
		in, err := insn.Decode(code[off:])
		if err != nil {
			off++
			continue
		}
		pc := fn.Addr + uint64(off)
		if in.Flow.Direct() {
			f.reach(fn, in.Target(pc))
		} else if lea := in.Map == insn.Map1B && in.Opcode == 0x8D; lea && in.RIPRel {
			f.reach(fn, pc+uint64(in.Len)+uint64(in.Disp()))
		}
		off += int(in.Len)
	}
}

// reach notes addr if it is inside another function than from.
func (f *finder) reach(from Func, addr uint64) {
	i, start := slices.BinarySearchFunc(f.funcs, addr, func(fn Func, a uint64) int { return cmp.Compare(fn.Addr, a) })
	if start || i == 0 {
		return
	}
	if to := f.funcs[i-1]; to.Addr != from.Addr && addr < to.End() {
		f.found = append(f.found, addr)
	}
}
