package lang

import (
	"fmt"
	"slices"
	"strings"
)

func (g *generator) ifElse(s *Stmt) {
	no, end := g.newLabel(), g.newLabel()
	g.branch(s.Value, no, false)
	g.run(s.Body)
	if len(s.Else) > 0 {
		g.emit("goto %s", end)
	}
	g.label(no)
	g.run(s.Else)
	g.label(end)
}

// loop generates a loop: test goes to its label when the loop is over, next comes after the body.
func (g *generator) loop(body []*Stmt, test func(end string), next func()) {
	top, again, end := g.newLabel(), g.newLabel(), g.newLabel()
	g.leaving, g.loops = append(g.leaving, again, end), true
	g.label(top)
	test(end)
	g.run(body)
	g.label(again)
	next()
	g.emit("goto %s", top)
	g.label(end)
	g.leaving = g.leaving[:len(g.leaving)-2]
}

func (g *generator) forRange(s *Stmt) {
	if _, known := g.constant(s.Limit); !known {
		g.forUnknown(s)
		return
	}
	g.number(s.Limit)
	limit := g.spill()
	g.set(s.Target.Name, s.Value)
	i := g.home(g.vars[s.Target.Name])
	g.loop(s.Body, func(end string) {
		g.emit("r0 = *(u64 *)(%s)", i)
		g.emit("r1 = *(u64 *)(%s)", limit)
		g.emit("if r0 s>= r1 goto %s", end)
	}, func() {
		g.emit("r0 = *(u64 *)(%s)", i)
		g.emit("r0 += 1")
		g.emit("*(u64 *)(%s) = r0", i)
	})
}

func (g *generator) unroll(s *Stmt, n int) {
	end := g.newLabel()
	for range n {
		again := g.newLabel()
		g.leaving = append(g.leaving, again, end)
		g.run(s.Body)
		g.label(again)
		g.leaving = g.leaving[:len(g.leaving)-2]
	}
	g.label(end)
}

// hasMapLoops tells whether there is a loop over a map.
func (g *generator) hasMapLoops(all []*Stmt) bool {
	found := false
	walk(all, func(s *Stmt) { found = found || s.Kind == For && !g.isCounted(s) })
	return found
}

// isCounted tells whether a loop is over a range whose end is known: it needs no function.
func (g *generator) isCounted(s *Stmt) bool {
	if s.Limit == nil {
		return false
	}
	_, known := g.constant(s.Limit)
	return known
}

// walk calls f for all statements, also of blocks in expressions.
func walk(all []*Stmt, f func(*Stmt)) {
	var expr func(*Expr)
	expr = func(e *Expr) {
		if e == nil {
			return
		}
		walk(e.Body, f)
		for _, a := range e.Args {
			expr(a)
		}
	}
	for _, s := range all {
		f(s)
		for _, e := range []*Expr{s.Target, s.Value, s.Limit} {
			expr(e)
		}
		walk(s.Body, f)
		walk(s.Else, f)
	}
}

// frameSlot is a word of the program's stack that tells that a loop over a map has met return or exit().
// What such a loop calls gets its address, and so finds the variables.
var frameSlot = place{"r10", -8}

// forEach generates a loop over a map: a function that a helper calls for each key.
func (g *generator) forEach(s *Stmt) {
	m, name := s.Value.m, g.newLabel()
	slot := g.slot()
	g.zero(slot, 8)
	g.emit("r1 = map[idx:%d]", m.Index)
	g.emit("r2 = subprog[%s]", name)
	g.address("r3", slot)
	g.emit("r4 = 0")
	g.emit("call 164")
	g.called(s, slot, name, func(end string) { g.keyAndValue(s, end, m) }, func() {})
}

// maxRounds is how often a loop over a range goes whose end is not known before: in programs that run seldom,
// and in others.
const maxRounds, maxRoundsOfHit = 4096, 32

// forUnknown generates a loop over a range whose end is not known: a function that a helper calls for each.
func (g *generator) forUnknown(s *Stmt) {
	most, few, none := pick(g.point.Rare(), maxRounds, maxRoundsOfHit), g.newLabel(), g.newLabel()
	slot, name := g.slot(), g.newLabel()
	g.number(s.Limit)
	limit := g.spill()
	g.set(s.Target.Name, s.Value)
	i := g.home(g.vars[s.Target.Name])
	g.emit("r1 = *(u64 *)(%s)", i)
	g.emit("r0 = *(u64 *)(%s)", limit)
	g.emit("r0 -= r1")
	g.emit("if r0 s<= 0 goto %s", none)
	g.emit("*(u64 *)(%s) = r0", limit)
	g.emit("if r0 <= %d goto %s", most, few)
	g.missing(s.Limit, fmt.Sprintf("this loop ends after %d rounds: its end is not known when the program is made", most))
	g.emit("r0 = %d", most)
	g.label(few)
	g.emit("r1 = r0")
	g.zero(slot, 8)
	g.emit("r2 = subprog[%s]", name)
	g.address("r3", slot)
	g.emit("r4 = 0")
	g.emit("call 181")
	g.called(s, slot, name, func(end string) {
		g.emit("r7 = r2")
		g.emit("r7 += 8")
		g.findScratch(g.push(8), end)
	}, func() {
		i := g.home(g.vars[s.Target.Name])
		g.emit("r1 = *(u64 *)(%s)", i)
		g.emit("r1 += 1")
		g.emit("*(u64 *)(%s) = r1", i)
	})
	g.label(none)
}

// slot is frameSlot as the code finds it that is being generated.
func (g *generator) slot() place {
	if g.depth > 0 {
		return place{"r7", frameSlot.off}
	}
	return frameSlot
}

// called generates what follows the call of the helper, and the function that it calls.
func (g *generator) called(s *Stmt, slot place, name string, begin func(end string), next func()) {
	g.emit("r1 = *(u64 *)(%s)", slot)
	g.emit("if r1 != 0 goto %s", g.out)
	outer, stack, leaving, out := g.code, g.stack, g.leaving, g.out
	g.code, g.stack, g.depth = nil, 0, g.depth+1
	g.function(s, name, begin, next)
	g.inner = append(g.inner, g.code)
	g.code, g.stack, g.leaving, g.out, g.depth = outer, stack, leaving, out, g.depth-1
}

// keyAndValue begins what a loop over a map calls: R1 is the map, R2 the key, R3 the value, R4 frameSlot.
func (g *generator) keyAndValue(s *Stmt, end string, m *Map) {
	g.emit("r7 = r4")
	g.emit("r7 += 8")
	key, value := g.push(8), g.push(8)
	g.emit("*(u64 *)(%s) = r2", key)
	g.emit("*(u64 *)(%s) = r3", value)
	g.findScratch(g.push(8), end)
	kv := g.home(g.vars[s.Target.Name])
	size := Type{Kind: TupleOf, Elems: m.Key}.Size()
	g.emit("r2 = *(u64 *)(%s)", key)
	g.copy(kv, place{"r2", 0}, size)
	if m.Value.sums() {
		g.scoped(func() { g.sumAt(m, kv) })
		g.emit("*(u64 *)(%s) = r0", kv.plus(size))
	} else {
		g.emit("r2 = *(u64 *)(%s)", value)
		g.copy(kv.plus(size), place{"r2", 0}, m.Value.Size())
	}
}

// function generates what a helper calls for each round of a loop.
func (g *generator) function(s *Stmt, name string, begin func(end string), next func()) {
	again, end := g.newLabel(), g.newLabel()
	g.leaving, g.out = []string{again, end}, g.newLabel()
	g.label(name)
	begin(end)
	g.run(s.Body)
	g.label(again)
	next()
	g.emit("r0 = 0")
	g.emit("exit")
	g.label(g.out)
	g.emit("*(u64 *)(r7 - 8) = 1")
	g.label(end)
	g.emit("r0 = 1")
	g.emit("exit")
	if slices.ContainsFunc(g.code, func(l line) bool { return strings.Contains(l.text, "r6") }) {
		g.fail(s.Span, "arguments, results and stacks cannot be read in a loop over a map or to an end that is not known: keep them in variables before it")
	}
}

// countKeys leaves in R0 how many keys a map has.
func (g *generator) countKeys(m *Map) {
	name := g.newLabel()
	g.emit("r1 = map[idx:%d]", m.Index)
	g.emit("r2 = subprog[%s]", name)
	g.emit("r3 = 0")
	g.emit("r4 = 0")
	g.emit("call 164")
	g.inner = append(g.inner, []line{{text: name + ":"}, {text: "r0 = 0"}, {text: "exit"}})
}
