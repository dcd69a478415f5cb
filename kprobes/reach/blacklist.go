package reach

import "sonde/kallsyms"

// Blacklist returns the functions that may not be probed, by address, with the
// reason. marked are names besides those of the rules.
func (g *Graph) Blacklist(marked []string) map[uint64]string {
	black := map[uint64]string{}
	put := func(ns names, why string) {
		for _, p := range ns {
			g.find(p, func(s kallsyms.Symbol) { black[s.Addr] = why })
		}
	}
	for _, r := range keptOut {
		put(r.names, r.why)
	}
	for _, r := range regions {
		found := g.region(r.entries, r.within)
		for addr := range found {
			black[addr] = r.why + ": " + Arrows(g.Path(found, addr))
		}
	}
	trap := g.trapPath()
	for addr := range trap {
		black[addr] = "it handles traps: " + Arrows(g.Path(trap, addr))
	}
	put(marked, "it is marked NoKprobe")
	return black
}

// trapPath walks what a trap may run before it is known what it is: from where
// the CPU enters, without what is cold.
func (g *Graph) trapPath() Reached {
	return g.walk(g.addrs(trapEntries), g.leads, func(fn kallsyms.Symbol, _ Reached) Next {
		if cold.fits(fn.Name) {
			return Skip
		}
		return Into
	})
}

// leads returns where f leads: its calls, and what the rules say of its indirect
// ones.
func (g *Graph) leads(f *Func) []uint64 {
	all := f.Calls
	for _, r := range indirect {
		if len(f.Indirect) > 0 && fits(r.caller, f.Name) {
			all = append(all[:len(all):len(all)], g.addrs(r.calls)...)
		}
	}
	if fits(shortCaller, f.Name) {
		all = append(all[:len(all):len(all)], g.shorts()...)
	}
	return all
}

// region walks from entries, through the functions that are in within.
func (g *Graph) region(entries, within names) Reached {
	return g.walk(g.addrs(entries), g.leads, func(fn kallsyms.Symbol, _ Reached) Next {
		if !within.fits(fn.Name) {
			return Skip
		}
		return Into
	})
}

// Unlisted returns the functions that a trap may run and that make calls whose target
// neither their code shows nor the rules name.
func (g *Graph) Unlisted() (found []*Func) {
	for addr := range g.trapPath() {
		f, ok := g.At(addr)
		if !ok || len(f.Indirect) == 0 {
			continue
		}
		listed := false
		for _, r := range indirect {
			listed = listed || fits(r.caller, f.Name)
		}
		if !listed {
			found = append(found, f)
		}
	}
	return found
}
