package lang

import (
	"strings"
)

// Flags of updates, by Linux's numbers.
const updateAny = 0

// key writes the key of a map, and returns where it is.
func (g *generator) key(e *Expr) place {
	m := e.m
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
	if e.Type.Aggregates() {
		g.fail(e.Span, "%s is kept for each CPU: a program cannot read it", e.Name)
	}
	end := g.newLabel()
	g.scoped(func() { g.lookup(e) })
	g.emit("if r0 == 0 goto %s", end)
	g.emit("r0 = *(u64 *)(r0 + 0)")
	g.label(end)
}

func (g *generator) assignMap(s *Stmt) {
	m, value := s.Target.m, s.Value
	switch {
	case m.Value.Aggregates() && value.Kind == Call:
		g.aggregate(s.Target, value)
	case m.Value.Aggregates():
		g.fail(s.Span, "%s keeps %s(): nothing else can be assigned to it", m.Name, m.Value)
	case s.Op == "+=" || s.Op == "-=":
		g.number(value)
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

// aggregate adds a value to what a map keeps for this CPU.
func (g *generator) aggregate(target, call *Expr) {
	m := target.m
	if len(call.Args) > 0 {
		g.number(call.Args[0])
	} else {
		g.emit("r0 = 1")
	}
	switch m.Value.Kind {
	case Hist:
		g.log2()
	case LHist:
		g.linear(m.Value)
	}
	value := g.spill()
	key := g.key(target)
	if m.Value.Kind == Hist || m.Value.Kind == LHist {
		g.copy(key.plus(m.KeySize()-8), value, 8)
		g.emit("*(u64 *)(%s) = 1", value)
	}
	none, end := g.newLabel(), g.newLabel()
	g.find(m, key)
	if m.IsArray() {
		none = end
	}
	g.emit("if r0 == 0 goto %s", none)
	g.emit("r1 = *(u64 *)(%s)", value)
	g.combine(m.Value, end)
	if !m.IsArray() {
		g.emit("goto %s", end)
		g.label(none)
		g.first(m, key, value)
	}
	g.label(end)
}

// first puts the first value of a key in a map.
func (g *generator) first(m *Map, key, value place) {
	if k := m.Value.Kind; k == Avg || k == Stats {
		pair := g.push(16)
		g.emit("*(u64 *)(%s) = 1", pair)
		g.copy(pair.plus(8), value, 8)
		value = pair
	}
	g.update(m, key, value)
}

// combine adds R1 to the value that R0 points to. Only this CPU changes it.
func (g *generator) combine(t Type, end string) {
	sign := pick(t.Signed, "s", "")
	switch t.Kind {
	case Min, Max:
		g.emit("r2 = *(u64 *)(r0 + 0)")
		g.emit("if r1 %s%s r2 goto %s", sign, pick(t.Kind == Min, ">=", "<="), end)
		g.emit("*(u64 *)(r0 + 0) = r1")
	case Avg, Stats:
		g.emit("r2 = *(u64 *)(r0 + 8)")
		g.emit("r2 += r1")
		g.emit("*(u64 *)(r0 + 8) = r2")
		g.emit("r2 = *(u64 *)(r0 + 0)")
		g.emit("r2 += 1")
		g.emit("*(u64 *)(r0 + 0) = r2")
	default:
		g.emit("r2 = *(u64 *)(r0 + 0)")
		g.emit("r2 += r1")
		g.emit("*(u64 *)(r0 + 0) = r2")
	}
}

// log2 makes R0 the number of its bucket: 0 below 0, 1 for 0, and 2 + n from 2^n on.
func (g *generator) log2() {
	negative, end := g.newLabel(), g.newLabel()
	g.emit("r1 = r0")
	g.emit("r0 = 0")
	g.emit("if r1 s< 0 goto %s", negative)
	g.emit("r0 = 1")
	g.emit("if r1 == 0 goto %s", end)
	g.emit("r0 = 2")
	for _, bits := range []int{32, 16, 8, 4, 2, 1} {
		less := g.newLabel()
		g.emit("r2 = r1")
		g.emit("r2 >>= %d", bits)
		g.emit("if r2 == 0 goto %s", less)
		g.emit("r1 = r2")
		g.emit("r0 += %d", bits)
		g.label(less)
	}
	g.label(negative)
	g.label(end)
}

// linear makes R0 the number of its bucket: 0 below the range, the last one above it.
func (g *generator) linear(t Type) {
	below, above, end := g.newLabel(), g.newLabel(), g.newLabel()
	g.emit("if r0 s< %d goto %s", t.Low, below)
	g.emit("if r0 s>= %d goto %s", t.High, above)
	g.emit("r0 -= %d", t.Low)
	g.emit("r0 /= %d", t.Step)
	g.emit("r0 += 1")
	g.emit("goto %s", end)
	g.label(below)
	g.emit("r0 = 0")
	g.emit("goto %s", end)
	g.label(above)
	g.emit("r0 = %d", Buckets(t)-1)
	g.label(end)
}

// Buckets is how many buckets an LHist has, with those below and above its range.
func Buckets(t Type) int { return int((t.High-t.Low+t.Step-1)/t.Step) + 2 }
