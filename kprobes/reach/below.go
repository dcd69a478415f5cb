package reach

import (
	"slices"

	"sonde/kallsyms"
)

// Below returns the functions that the one at addr calls, the nearest first, and what they call, down to a depth: 1 is what it
// calls itself. Closures and methods of interfaces are among them as far as the code shows which they are; blind are
// the functions that make calls of which it does not show that. What a function calls for which leave returns true is left out.
func (g *Graph) Below(addr uint64, depth int, leave func(kallsyms.Symbol) bool) (found, blind []kallsyms.Symbol) {
	known := map[uint64]bool{addr: true}
	for level := []uint64{addr}; depth > 0 && len(level) > 0; depth-- {
		var next []uint64
		for _, from := range level {
			f, ok := g.At(from)
			if !ok {
				continue
			}
			all := g.seen(f)
			if len(f.Indirect) > 0 && len(all) == len(f.Calls) {
				blind = append(blind, f.Symbol)
			}
			for _, to := range all {
				sym, ok := g.syms.At(to)
				if ok && !known[to] && !leave(sym) {
					found, next = append(found, sym), append(next, to)
				}
				known[to] = true
			}
		}
		level = next
	}
	return slices.Clip(found), blind
}
