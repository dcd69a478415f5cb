package reach

import "sonde/kallsyms"

// A Breach is a way from code that runs in a trap to what does not work there.
type Breach struct {
	Rule string   // what it does: "allocates memory"
	Path []string // the calls that lead there, names of symbols, the last breaks the rule
}

func (b Breach) String() string { return b.Rule + ": " + Arrows(b.Path) }

// Breaches returns how the function at addr breaks the rules of trap context, by
// the shortest way for each rule; none if direct calls do not show that it does.
// What a function does on its way to a panic is not looked at.
//
// Context: goroutine.
func (g *Graph) Breaches(addr uint64) []Breach {
	return g.breaches([]uint64{addr}, calls, nil)
}

// TrapBreaches is Breaches for all that runs before a handler does.
//
// Context: goroutine.
func (g *Graph) TrapBreaches() []Breach { return g.breaches(g.addrs(trapEntries), g.leads, cold) }

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
