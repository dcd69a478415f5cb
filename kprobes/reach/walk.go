package reach

import (
	"slices"
	"strings"

	"sonde/kallsyms"
)

// Next is what a walk does with a function it has come to.
type Next uint8

const (
	Into Next = iota // go on to what it leads to
	Skip             // leave it out: it does not count as reached
	Stop             // end the walk here
)

// Reached is where a walk has been: for each function, by address, the one that
// the walk came from; a root came from itself.
type Reached map[uint64]uint64

func calls(f *Func) []uint64 { return f.Calls }

// walk goes from roots, which are addresses of functions, breadth first to all
// that leads says each leads to, and asks visit about each function
// once. It reads only functions that visit wants it to go into.
func (g *Graph) walk(roots []uint64, leads func(*Func) []uint64, visit func(kallsyms.Symbol, Reached) Next) Reached {
	from := Reached{}
	var todo, skipped []uint64
	add := func(addr, by uint64) {
		if _, seen := from[addr]; !seen {
			from[addr] = by
			todo = append(todo, addr)
		}
	}
	for _, r := range roots {
		add(r, r)
	}
	for next := Into; len(todo) > 0 && next != Stop; todo = todo[1:] {
		fn, ok := g.syms.At(todo[0])
		if !ok {
			continue
		}
		switch next = visit(fn, from); next {
		case Skip:
			skipped = append(skipped, fn.Addr)
		case Into:
			if f, ok := g.At(fn.Addr); ok {
				for _, to := range leads(f) {
					add(to, fn.Addr)
				}
			}
		}
	}
	for _, addr := range skipped {
		delete(from, addr)
	}
	return from
}

// Path returns the names of the functions by which r came to addr, from a root on.
func (g *Graph) Path(r Reached, addr uint64) (path []string) {
	for {
		if sym, ok := g.syms.At(addr); ok {
			path = append(path, sym.Name)
		}
		from, ok := r[addr]
		if !ok || from == addr {
			slices.Reverse(path)
			return path
		}
		addr = from
	}
}

// Arrows writes a path for people: without the folders of packages.
func Arrows(path []string) string {
	short := make([]string, len(path))
	for i, name := range path {
		short[i] = strings.TrimSuffix(kallsyms.Base(name), abi0)
	}
	return strings.Join(short, " -> ")
}
