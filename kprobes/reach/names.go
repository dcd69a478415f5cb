package reach

import (
	"fmt"
	"strings"

	"sonde/kallsyms"
)

// names is a list of patterns: a symbol, of which the ".abi0" of assembly may be
// left out, or with "*" after it the beginning of some.
type names []string

// fits reports whether name is in the list.
func (ns names) fits(name string) bool {
	for _, p := range ns {
		if fits(p, name) {
			return true
		}
	}
	return false
}

func fits(pattern, name string) bool {
	if begin, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, begin)
	}
	return strings.TrimSuffix(name, abi0) == strings.TrimSuffix(pattern, abi0)
}

const abi0 = ".abi0"

// find calls yield for each function that pattern fits.
func (g *Graph) find(pattern string, yield func(kallsyms.Symbol)) {
	begin, all := strings.CutSuffix(pattern, "*")
	for s := range g.syms.Named(begin) {
		if s.IsText() && (all || fits(pattern, s.Name)) {
			yield(s)
		}
	}
}

// addrs returns the addresses of all functions in the list.
func (g *Graph) addrs(ns names) (list []uint64) {
	for _, p := range ns {
		g.find(p, func(s kallsyms.Symbol) { list = append(list, s.Addr) })
	}
	return list
}

// check returns an error for each name of the list that fits no function; list is
// what to call it.
func (g *Graph) check(list string, ns names) (wrong []error) {
	for _, p := range ns {
		n := 0
		g.find(p, func(kallsyms.Symbol) { n++ })
		if n > 0 {
			continue
		}
		_, err := g.syms.Resolve(strings.TrimSuffix(p, "*"))
		if err == nil {
			err = fmt.Errorf("%w: it is data, or its full name is different", kallsyms.ErrUnknown)
		}
		wrong = append(wrong, fmt.Errorf("%s: %q: %w", list, p, err))
	}
	return wrong
}
