package lang

import "strings"

func (g *generator) run(all []*Stmt) {
	for _, s := range all {
		g.scoped(func() { g.statement(s) })
	}
}

func (g *generator) statement(s *Stmt) {
	g.at = s.Span
	switch s.Kind {
	case Evaluate:
		g.discard(s.Value)
	case Assign:
		g.assign(s)
	case Declare:
		if v := g.vars[s.Target.Name]; s.Value != nil {
			g.set(s.Target.Name, s.Value)
		} else {
			g.zero(g.home(v), v.Type.Size())
		}
	case If:
		g.ifElse(s)
	case While:
		g.loop(s.Body, func(end string) { g.at = s.Value.Span; g.branch(s.Value, end, false) }, func() {})
	case Unroll:
		n, _ := g.constant(s.Value)
		g.unroll(s, int(n))
	case For:
		if s.Limit == nil {
			g.forEach(s)
		} else {
			g.forRange(s)
		}
	case Block:
		g.run(s.Body)
	case Break:
		g.emit("goto %s", g.leaving[len(g.leaving)-1])
	case Continue:
		g.emit("goto %s", g.leaving[len(g.leaving)-2])
	case Return:
		if s.Value != nil {
			g.discard(s.Value)
		}
		g.emit("goto %s", g.out)
	}
}

// discard generates an expression whose value is not used.
func (g *generator) discard(e *Expr) {
	switch {
	case e.Kind == Call:
		g.perform(e)
	case e.Kind == BlockOf:
		g.run(e.Body)
		for _, a := range e.Args {
			g.discard(a)
		}
	case e.Kind == Choice:
		g.choose(e, g.discard)
	case e.Type.isNumber():
		g.number(e)
	case e.Type.Kind != Void:
		g.memory(e)
	}
}

// set assigns to a variable.
func (g *generator) set(name string, value *Expr) {
	v := g.vars[name]
	g.write(value, g.home(v), v.Type)
}

func (g *generator) assign(s *Stmt) {
	if s.Target.Kind == MapValue {
		g.assignMap(s)
		return
	}
	if s.Op == "=" {
		g.set(s.Target.Name, s.Value)
		return
	}
	e := &Expr{Span: s.Span, Kind: Binary, Op: strings.TrimSuffix(s.Op, "="), Args: []*Expr{s.Target, s.Value}, Type: g.vars[s.Target.Name].Type}
	g.set(s.Target.Name, e)
}
