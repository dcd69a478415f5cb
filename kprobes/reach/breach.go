package reach

import (
	"slices"
	"sort"

	"sonde/kallsyms"
)

// A Breach is a way from code that runs in a trap to what does not work there.
type Breach struct {
	Rule string   // what it does: "allocates memory"
	Path []string // the calls that lead there, names of symbols, the last breaks the rule
}

func (b Breach) String() string { return b.Rule + ": " + Arrows(b.Path) }

// TrapBreaches returns how all that runs before a handler does breaks the rules of trap context, and what programs
// call, which may use what is offered to handlers: by the shortest way for each rule; none if direct calls do not show
// that it does. What a function does on its way to a panic is not looked at.
func (g *Graph) TrapBreaches() []Breach {
	found := g.breaches(g.addrs(trapEntries), g.leads, cold)
	return append(found, g.breaches(g.addrs(names{programHelpers}), g.leads, slices.Concat(cold, offered))...)
}

func (g *Graph) breaches(roots []uint64, leads func(*Func) []uint64, apart names) (found []Breach) {
	done := map[string]bool{}
	g.walk(roots, leads, func(fn kallsyms.Symbol, from Reached) Next {
		switch rule := broken(fn.Name); {
		case rule != "" && !done[rule]:
			done[rule] = true
			found = append(found, Breach{rule, g.Path(from, fn.Addr)})
			return Skip
		case rule != "" || dying.fits(fn.Name) || apart.fits(fn.Name):
			return Skip
		}
		return Into
	})
	return found
}

// broken returns the rule that a call of the function called name breaks, "" if none.
func broken(name string) string {
	for _, r := range forbidden {
		if r.calls.fits(name) {
			return r.rule
		}
	}
	return ""
}

// causes puts first what the author of a handler has to change, and leaves out what follows
// from it. A store of a pointer comes last: a store of what was just allocated does harm only
// while the collector runs, the allocation always. Of all that a library's function does, the
// first is enough: a handler that calls fmt.Sprintf cannot avoid the lock that it takes.
func causes(found []Breach) (list []Breach) {
	sort.SliceStable(found, func(i, j int) bool { return storeLast(found[i]) < storeLast(found[j]) })
	known := map[string]bool{}
	for _, b := range found {
		if way := Arrows(b.Path[:ownCalls(b.Path)]); !known[way] {
			known[way] = true
			list = append(list, b)
		}
	}
	return list
}

func storeLast(b Breach) int {
	if b.Rule == storesPointer {
		return 1
	}
	return 0
}

// ownCalls is how many functions of a path are in the package of the first, and the one that
// they call.
func ownCalls(path []string) int {
	n := 1
	for n < len(path) && kallsyms.Package(path[n]) == kallsyms.Package(path[0]) {
		n++
	}
	return min(n+1, len(path))
}
