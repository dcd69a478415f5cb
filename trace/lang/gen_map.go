package lang

import (
	"strings"
)

// Flags of updates, by Linux's numbers.
const updateAny = 0

// key writes the key of a map, and returns where it is.
func (g *generator) key(e *Expr) place {
	m := e.m
	if m.IsArray() && len(m.Key) > 0 {
		g.number(e.Args[0])
		return g.spill()
	}
	size := m.KeySize()
	var p place
	if size <= 64 {
		p = g.push(size)
	} else {
		p = g.room(size)
	}
	if len(m.Key) == 0 {
		g.zero(p, up(size))
		return p
	}
	at := p
	if isWholeKey(e.Args) {
		g.write(e.Args[0], p, Type{Kind: TupleOf, Elems: m.Key})
		return p
	}
	for i, a := range e.Args {
		g.write(a, at, m.Key[i])
		at = at.plus(m.Key[i].Size())
	}
	return p
}

// find leaves the address of a key's value, or 0, in R0.
func (g *generator) find(m *Map, key place) {
	g.address("r2", key)
	g.emit("r1 = map[idx:%d]", m.Index)
	g.emit("call 1")
}

func (g *generator) lookup(e *Expr) { g.find(e.m, g.key(e)) }

func (g *generator) update(m *Map, key, value place) {
	g.address("r2", key)
	g.address("r3", value)
	g.emit("r4 = %d", updateAny)
	g.emit("r1 = map[idx:%d]", m.Index)
	g.emit("call 2")
}

// readMap leaves a number of a map in R0; 0 if there is none.
func (g *generator) readMap(e *Expr) {
	if e.m.Value.sums() {
		g.scoped(func() { g.sumAt(e.m, g.key(e)) })
		return
	}
	none, end := g.newLabel(), g.newLabel()
	g.scoped(func() { g.lookup(e) })
	g.emit("if r0 == 0 goto %s", none)
	g.emit("r0 = *(u64 *)(r0 + 0)")
	if !g.opt.Missing || len(e.m.Key) == 0 {
		g.label(none)
		return
	}
	g.emit("goto %s", end)
	g.label(none)
	g.missing(e, "Can't lookup map element because it does not exist.\nAdditional Info - helper: map_lookup_elem, retcode: 0")
	g.emit("r0 = 0")
	g.label(end)
}

// sumAt leaves in R0 what all CPUs have at a key.
func (g *generator) sumAt(m *Map, key place) {
	sum, count, cpu := g.push(8), g.push(8), g.push(8)
	top, next := g.newLabel(), g.newLabel()
	for _, p := range []place{sum, count, cpu} {
		g.zero(p, 8)
	}
	g.label(top)
	g.address("r2", key)
	g.emit("r1 = map[idx:%d]", m.Index)
	g.emit("r3 = *(u64 *)(%s)", cpu)
	g.emit("call 195")
	g.emit("if r0 == 0 goto %s", next)
	g.addCPU(m.Value, sum, count, next)
	g.label(next)
	g.emit("r1 = *(u64 *)(%s)", cpu)
	g.emit("r1 += 1")
	g.emit("*(u64 *)(%s) = r1", cpu)
	g.emit("if r1 < %d goto %s", max(1, g.opt.CPUs), top)
	g.emit("r0 = *(u64 *)(%s)", sum)
	if m.Value.Kind == Avg {
		g.emit("r1 = *(u64 *)(%s)", count)
		g.emit("r0 %s/= r1", pick(m.Value.Signed, "s", ""))
	}
}

// addCPU adds what R0 points to.
func (g *generator) addCPU(t Type, sum, count place, next string) {
	g.emit("r1 = *(u64 *)(r0 + 0)")
	g.emit("r2 = *(u64 *)(%s)", sum)
	g.emit("r3 = *(u64 *)(%s)", count)
	switch t.Kind {
	case Avg:
		g.emit("r3 += r1")
		g.emit("r1 = *(u64 *)(r0 + 8)")
		g.emit("r1 += r2")
	case Min, Max:
		take := g.newLabel()
		g.emit("if r3 == 0 goto %s", take)
		g.emit("if r1 %s%s r2 goto %s", pick(t.Signed, "s", ""), pick(t.Kind == Min, ">=", "<="), next)
		g.label(take)
		g.emit("r3 = 1")
	default:
		g.emit("r1 += r2")
	}
	g.emit("*(u64 *)(%s) = r1", sum)
	g.emit("*(u64 *)(%s) = r3", count)
}

func (g *generator) assignMap(s *Stmt) {
	m, value := s.Target.m, s.Value
	for m.Value.Aggregates() && value.Kind == BlockOf && len(value.Args) > 0 {
		g.run(value.Body)
		value = value.Args[0]
	}
	switch {
	case m.Value.Aggregates() && value.Kind == Call:
		g.aggregate(s.Target, value)
	case m.Value.Aggregates():
		g.fail(s.Span, "%s keeps %s(): nothing else can be assigned to it", m.Name, m.Value)
	case s.Op == "+=" || s.Op == "-=":
		g.number(value)
		if n := m.Value.stride(); m.Value.Kind == Pointer && n > 1 {
			g.emit("r0 *= %d", n)
		}
		if s.Op == "-=" {
			g.emit("r0 = -r0")
		}
		g.addMap(s.Target, g.spill())
	default:
		g.replace(s)
	}
}

// replace stores a value under a key.
func (g *generator) replace(s *Stmt) {
	m, value := s.Target.m, s.Value
	if s.Op != "=" {
		value = &Expr{Span: s.Span, Kind: Binary, Op: strings.TrimSuffix(s.Op, "="), Args: []*Expr{s.Target, s.Value}, Type: m.Value}
	}
	var at place
	if m.Value.isNumber() {
		at = g.push(8)
	} else {
		at = g.room(m.Value.Size())
	}
	g.write(value, at, m.Value)
	g.update(m, g.key(s.Target), at)
}

// addMap adds what is in memory to a number in a map, and leaves the sum in R0. Other CPUs may add to it
// at the same time.
func (g *generator) addMap(e *Expr, delta place) {
	none, end := g.newLabel(), g.newLabel()
	key := g.key(e)
	g.find(e.m, key)
	g.emit("if r0 == 0 goto %s", none)
	g.emit("r1 = *(u64 *)(%s)", delta)
	g.emit("r2 = r1")
	g.emit("r2 = atomic_fetch_add((u64 *)(r0 + 0), r2)")
	g.emit("r0 = r1")
	g.emit("r0 += r2")
	g.emit("goto %s", end)
	g.label(none)
	g.update(e.m, key, delta)
	g.emit("r0 = *(u64 *)(%s)", delta)
	g.label(end)
}
