package reach

import (
	"fmt"
	"slices"
	"sync"

	"sonde/arch/amd64/retslot"
	"sonde/kallsyms"
)

// A Guard says what may be done to a function, and remembers the answers: reading
// code takes longer than all else of a registration, and code does not change.
type Guard struct {
	g      *Graph
	marked []string

	mu sync.Mutex
	// guarded by mu:
	black map[uint64]string
	sse   map[uint64]bool     // by address of a handler: it may change X0-X14
	moves map[uint64]bool     // by address of a handler: it may change IP or SP
	wrong map[uint64][]Breach // by address of a handler: what it may do that it must not
	slots map[uint64]string   // why no return probe, as far as asked
}

// NewGuard returns the Guard of g's image. marked are the names of further functions
// that may not be probed.
func NewGuard(g *Graph, marked []string) *Guard {
	return &Guard{g: g, marked: marked, sse: map[uint64]bool{}, moves: map[uint64]bool{}, wrong: map[uint64][]Breach{}, slots: map[uint64]string{}}
}

// Graph returns the image's graph.
func (g *Guard) Graph() *Graph { return g.g }

// Unprotected returns an error for each name that should keep probes away and that
// no function has.
func (g *Guard) Unprotected() []error { return g.g.Check(g.marked) }

// Blacklist returns the functions that may not be probed, by address, with the
// reason. warn gets what Unprotected returns, once.
func (g *Guard) Blacklist(warn func(error)) map[uint64]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.black == nil {
		for _, err := range g.Unprotected() {
			warn(err)
		}
		g.black = g.g.Blacklist(g.marked)
	}
	return g.black
}

// known returns what is in m at addr, which find finds the first time.
func known[V any](g *Guard, m map[uint64]V, addr uint64, find func() V) V {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := m[addr]
	if !ok {
		v = find()
		m[addr] = v
	}
	return v
}

// WritesSSE reports whether the function at pc may change X0-X14.
func (g *Guard) WritesSSE(pc uint64) bool {
	return known(g, g.sse, pc, func() bool { return g.g.KeepsSSE(pc) != nil })
}

// Careful reports whether the handler at pc may change X0-X14, or IP or SP of what it is called for.
func (g *Guard) Careful(pc uint64) bool {
	return g.WritesSSE(pc) || known(g, g.moves, pc, func() bool { return g.g.KeepsSpot(pc) != nil })
}

// Mistakes returns what the handler at pc may do that gets it abandoned, by the shortest
// way to each, causes first; nil if neither direct calls nor the func values and interfaces that
// can be seen show anything of the kind. Left out is what may go well:
// to read a map, to defer a call, and to panic.
func (g *Guard) Mistakes(pc uint64) []Breach {
	return known(g, g.wrong, pc, func() []Breach {
		found := g.g.breaches([]uint64{pc}, g.g.seen, offered)
		return causes(slices.DeleteFunc(found, func(b Breach) bool { return slices.Contains(mayGoWell, b.Rule) }))
	})
}

// mayGoWell are rules that a handler can break without harm.
var mayGoWell = []string{"uses a map", "defers a call", "panics"}

// NoReturn returns why a return probe on fn cannot work, "" if it can.
func (g *Guard) NoReturn(fn kallsyms.Symbol) string {
	return known(g, g.slots, fn.Addr, func() string {
		if why := g.g.SwitchesStacks(fn.Addr); why != "" {
			return why
		}
		return g.usesSlot(fn)
	})
}

// asksRuntime is the function by which one that reads its own return address
// learns the real one: see the overlay's sonde_ret.go.
const asksRuntime = "runtime.sondeCallerPC"

// usesSlot returns how fn, or a function that it jumps to, uses its own return
// address, "" if it does not or asks for the real one.
func (g *Guard) usesSlot(fn kallsyms.Symbol) string {
	asks, _ := g.g.syms.Addr(asksRuntime)
	seen := map[uint64]bool{fn.Addr: true}
	for todo := []kallsyms.Symbol{fn}; len(todo) > 0; {
		f := todo[0]
		todo = todo[1:]
		use, err := retslot.Scan(f.Addr, g.g.code(f.Addr, f.Size))
		if err != nil {
			return fmt.Sprintf("does not decode to its end: %v", err)
		}
		if use.Unasked(asks.Addr) {
			return how(fn, f, use.Slot[0])
		}
		for _, to := range use.Tails {
			if h, ok := g.g.syms.At(to); ok && h.Addr == to && !seen[to] {
				seen[to] = true
				todo = append(todo, h)
			}
		}
	}
	return ""
}

// how is the reason for refusing fn: f, at off, uses the return address.
func how(fn, f kallsyms.Symbol, off int) string {
	const uses = "uses its own return address, which a return probe replaces"
	if f.Addr == fn.Addr {
		return fmt.Sprintf("%s (at +%#x)", uses, off)
	}
	return fmt.Sprintf("jumps to %s, which %s (at +%#x)", f.Name, uses, off)
}
