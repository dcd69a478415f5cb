package reach

import "fmt"

// maxDepth is how much stack trap code may take before a handler is called, in bytes. A
// trap finds trap.Reserve left at least; half of it is for what handlers and the
// runtime need, which no walk can tell.
const maxDepth = 4 << 10

// Verify returns what is wrong with the code that a trap may run before a handler is
// called: how it reaches what does not work there, stack growth among that, and calls
// of which nothing says where they lead; and with short calls. The image is not built then.
func (g *Graph) Verify() (wrong []error) {
	for _, b := range g.TrapBreaches() {
		wrong = append(wrong, fmt.Errorf("trap code %s", b))
	}
	for _, f := range g.Unlisted() {
		wrong = append(wrong, fmt.Errorf("%s has an indirect call at +%#x, and the list indirect (kprobes/reach/rules.go) does not name its targets: %s",
			f.Name, f.Indirect[0], Arrows(g.Path(g.trapPath(), f.Addr))))
	}
	if n, path := g.TrapDepth(); n > maxDepth {
		wrong = append(wrong, fmt.Errorf("trap code may grow its stack: it takes %d bytes of the %d that it may: %s", n, maxDepth, Arrows(path)))
	}
	if err := g.verifyShort(); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}
