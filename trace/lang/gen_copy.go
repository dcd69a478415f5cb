package lang

import (
	"cmp"
	"fmt"
	"slices"
)

// CopyField says where an argument is at one place in an inlined copy.
type CopyField struct {
	Addr   uint64 // of the instruction that is hit
	Offset int    // as those of ArgField
	More   []int
	Stack  bool
}

// at is the argument as it is at a place.
func (f ArgField) at(c CopyField) ArgField {
	f.Offset, f.More, f.Stack, f.Copies = c.Offset, c.More, c.Stack, nil
	return f
}

// byCopy generates what each says with the argument as it is at the place that is hit: neighbours that have it in
// the same place share one. The prologue has seen to it that the argument is known at this place.
func (g *generator) byCopy(f ArgField, each func(ArgField)) {
	if f.Copies == nil {
		each(f)
		return
	}
	same := func(a, b CopyField) bool {
		return a.Offset == b.Offset && a.Stack == b.Stack && slices.Equal(a.More, b.More)
	}
	places, end := slices.CompactFunc(slices.Clone(f.Copies), same), g.newLabel()
	var from []uint64
	for _, c := range places {
		from = append(from, c.Addr)
	}
	g.among(from, func(i int) {
		each(f.at(places[i]))
		g.emit("goto %s", end)
	})
	g.label(end)
}

// among generates a search: it goes to what leaf makes for the last of the addresses, which ascend, that is not
// above the place that was hit; below all, for the first. R0 is that place.
func (g *generator) among(from []uint64, leaf func(i int)) {
	var half func(low, high int)
	half = func(low, high int) {
		if high-low == 1 {
			leaf(low)
			return
		}
		middle, above := (low+high)/2, g.newLabel()
		g.load("r2", int64(from[middle]))
		g.emit("if r0 >= r2 goto %s", above)
		half(low, middle)
		g.label(above)
		half(middle, high)
	}
	g.emit("r1 = r6")
	g.emit("call 173")
	half(0, len(from))
}

// onlyCopies ends the program at places where an argument that it reads is not known.
func (g *generator) onlyCopies(point *Point) {
	var known []uint64
	for i, name := range keys(g.target.read) {
		var here []uint64
		for _, c := range g.target.read[name] {
			if i == 0 || slices.Contains(known, c.Addr) {
				here = append(here, c.Addr)
			}
		}
		if known = here; len(known) == 0 {
			g.fail(point.Span, "no place of %s has all the arguments that are read", point.Text)
		}
	}
	if len(known) == 0 {
		return
	}
	on := g.newLabel()
	g.among(known, func(i int) {
		g.load("r2", int64(known[i]))
		g.emit("if r0 == r2 goto %s", on)
		g.emit("goto out")
	})
	g.label(on)
}

// reads notes that a program reads an argument that only some copies have.
func (c *checker) reads(e *Expr, f ArgField) {
	if f.Copies == nil {
		return
	}
	what := fmt.Sprintf("args.%s", f.Name)
	if len(f.Copies) == 0 {
		c.fail(e.Span, "%s is known in no copy: it is in no register and not on the stack where they begin", what)
	}
	if c.target.read == nil {
		c.target.read = map[string][]CopyField{}
	}
	slices.SortFunc(f.Copies, func(a, b CopyField) int { return cmp.Compare(a.Addr, b.Addr) })
	if c.target.read[f.Name] = f.Copies; f.Known != "" {
		c.warn(e.Span, "%s is known in %s: at the others, the program ends at once", what, f.Known)
	}
}
