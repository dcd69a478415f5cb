package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checker finds the types of maps, variables and expressions. It goes over the script until no type
// changes any more, since a map may be read before the statement that says what is in it. What is not
// known yet is no mistake but in the last pass.
type checker struct {
	*Script
	opt      *Options
	settings Settings
	options  map[string]string // that the script asks for by getopt(), with what they are for
	maps     map[string]*Map
	scopes   map[*Point]*scope
	changed  bool
	final    bool
	warnings []*Error

	// Of the point that is being checked:
	point  *Point
	target *Target
	*scope
	loops int
}

// scope is what is known of an attach point.
type scope struct {
	target *Target
	vars   map[string]*local
	order  []*local
}

// local is a variable of a probe.
type local struct {
	Type
	at     int  // on the stack or in scratch memory: see generator
	memory bool // it is in scratch memory
	fixed  bool
}

const maxPasses = 16

// types checks the whole script.
func (c *checker) types() {
	c.configure()
	for _, d := range c.Script.Maps {
		c.declare(d)
	}
	for pass := 0; ; pass++ {
		c.changed = false
		for _, probe := range c.Probes {
			for _, point := range probe.Points {
				c.probe(probe, point)
			}
		}
		if c.final {
			c.unknownOptions()
			return
		}
		c.final = !c.changed || pass == maxPasses
	}
}

func (c *checker) declare(d MapDecl) {
	switch {
	case !slices.Contains(mapKinds, d.Kind):
		c.Source.fail(d.Span, "there are no maps of type %s: there are %s", d.Kind, strings.Join(mapKinds, ", "))
	case d.Entries == 0 || d.Entries > 1<<20:
		c.Source.fail(d.Span, "a map has 1 to %d keys", 1<<20)
	case c.maps[d.Name] != nil:
		c.Source.fail(d.Span, "%s is declared a second time", d.Name)
	}
	c.maps[d.Name] = &Map{Name: d.Name, entries: int(d.Entries), evicts: strings.Contains(d.Kind, "lru"), where: d.Span}
}

// probe checks a probe at one of its points.
func (c *checker) probe(probe *Probe, point *Point) {
	s := c.scopes[point]
	if s == nil {
		s = &scope{target: c.resolve(point), vars: map[string]*local{}}
		c.scopes[point] = s
	}
	c.point, c.scope, c.target = point, s, s.target
	if probe.Filter != nil {
		c.condition(probe.Filter)
	}
	c.statements(probe.Body)
}

func (c *checker) resolve(p *Point) *Target {
	if p.Provider == "begin" || p.Provider == "end" {
		return &Target{}
	}
	t, err := c.opt.Resolver.Target(p)
	if err != nil {
		var h *Hinted
		if errors.As(err, &h) {
			c.Source.failHint(p.Span, h.Hint, "%s", h.Why)
		}
		c.Source.fail(p.Span, "%v", err)
	}
	return t
}

// warn notes what may be a mistake. It is said once.
func (c *checker) warn(at Span, format string, args ...any) {
	w := &Error{Source: c.Source, Span: at, Why: fmt.Sprintf(format, args...), Warning: true}
	if !slices.ContainsFunc(c.warnings, func(o *Error) bool { return o.Span == at && o.Why == w.Why }) {
		c.warnings = append(c.warnings, w)
	}
}

func (c *checker) fail(at Span, format string, args ...any) { c.Source.fail(at, format, args...) }

func (c *checker) statements(all []*Stmt) {
	for i, s := range all {
		c.statement(s)
		if c.final && i+1 < len(all) && s.ends() {
			c.warn(all[i+1].Span, "Unreachable statement: what stands before it ends the probe or the loop")
		}
	}
}

// ends tells whether nothing behind a statement is executed.
func (s *Stmt) ends() bool {
	return s.Kind == Return || s.Kind == Break || s.Kind == Continue || s.Kind == Evaluate && s.Value.Kind == Call && s.Value.Name == "exit"
}

func (c *checker) statement(s *Stmt) {
	switch s.Kind {
	case Evaluate:
		c.evaluate(s.Value)
	case Assign:
		c.assign(s)
	case Declare:
		c.let(s)
	case If:
		c.condition(s.Value)
		c.statements(s.Body)
		c.statements(s.Else)
	case While:
		c.condition(s.Value)
		c.body(s.Body)
	case Unroll:
		c.number(s.Value)
		switch n, ok := c.constant(s.Value); {
		case ok && n < 1:
			c.fail(s.Value.Span, "unroll minimum value is 1")
		case ok && n > 100:
			c.fail(s.Value.Span, "unroll maximum value is 100")
		case !ok:
			c.fail(s.Value.Span, "unroll needs a number from 1 to 100 that is known before")
		}
		c.body(s.Body)
	case For:
		c.forLoop(s)
	case Block:
		c.statements(s.Body)
	case Break, Continue:
		if c.loops == 0 {
			c.fail(s.Span, "this is in no loop")
		}
	case Return:
		if s.Value != nil {
			c.number(s.Value)
		}
	}
}

// evaluate checks an expression that stands as a statement.
func (c *checker) evaluate(e *Expr) {
	if t := c.expr(e); t.Aggregates() && e.Kind == Call {
		c.fail(e.Span, "%s() must be assigned to a map: @ = %s(…)", e.Name, e.Name)
	}
}

func (c *checker) body(all []*Stmt) {
	c.loops++
	c.statements(all)
	c.loops--
}

func (c *checker) let(s *Stmt) {
	name := s.Target.Name
	if s.Type != nil {
		c.store(s.Target, c.asValue(c.typeOf(s.Type)))
		c.vars[name].fixed = true
	} else if s.Value == nil && c.vars[name] == nil {
		c.vars[name] = &local{}
		c.order = append(c.order, c.vars[name])
	}
	if s.Value != nil {
		t := c.expr(s.Value)
		if t.Kind == Void || t.Aggregates() {
			c.fail(s.Value.Span, "this has no value that a variable can have")
		}
		c.store(s.Target, c.asValue(t))
	}
	s.Target.Type = c.vars[name].Type
}

// typeOf is the type that a name stands for, or that of an expression.
func (c *checker) typeOf(n *TypeName) Type {
	if n.Of == nil {
		return c.Script.typeOf(n)
	}
	of := n.Of
	for of.Kind == TypeOf && of.To == nil {
		of = of.Args[0]
	}
	if of.Kind == TypeOf {
		return n.wrap(c.Script, c.typeOf(of.To))
	}
	return n.wrap(c.Script, c.expr(of))
}

// forLoop checks a loop over a range or over a map.
func (c *checker) forLoop(s *Stmt) {
	if s.Limit != nil {
		c.number(s.Value)
		c.number(s.Limit)
		c.store(s.Target, int64Type)
		c.body(s.Body)
		return
	}
	c.wholeMap(s.Value, s.Value)
	m := s.Value.m
	if m == nil || m.Value.Kind == Unknown {
		c.store(s.Target, Type{})
		c.body(s.Body)
		return
	}
	if len(m.Key) == 0 || m.Value.Aggregates() && !m.Value.sums() {
		c.fail(s.Value.Span, "a loop is over a map with keys, and not over %s: %s", m.Value, m.Name)
	}
	key, value := Type{Kind: TupleOf, Elems: m.Key}, m.Value
	if len(m.Key) == 1 {
		key = m.Key[0]
	}
	if value.sums() {
		value = integer(8, value.Signed || value.Kind == Count)
	}
	c.store(s.Target, Type{Kind: TupleOf, Elems: []Type{key, value}})
	c.body(s.Body)
}

// asValue is the type of a variable that is assigned something of type t.
func (c *checker) asValue(t Type) Type {
	t.Go = false
	return t
}

func (c *checker) assign(s *Stmt) {
	t := c.expr(s.Value)
	if s.Op != "=" {
		have := c.expr(s.Target)
		if t.Aggregates() || have.Kind != Unknown && !have.isInt() || t.Kind != Unknown && !t.isInt() {
			c.fail(s.Span, "%s works on integers, not on %s and %s", s.Op, have, t)
		}
	}
	if t.Kind == Void {
		c.fail(s.Value.Span, "this has no value")
	}
	if s.Target.Kind == Variable {
		if t.Aggregates() {
			c.fail(s.Span, "%s can only be in a map: give @%s instead of %s", t, s.Target.Name[1:], s.Target.Name)
		}
		c.store(s.Target, c.asValue(t))
		return
	}
	if s.Value.Kind == MapValue && t.Aggregates() {
		c.fail(s.Value.Span, "a map of %s cannot be copied", t)
	}
	c.key(s.Target)
	m := s.Target.m
	if s.Op == "=" && t.isInt() && m.Value.Aggregates() {
		c.fail(s.Span, "%s keeps %s(): nothing else can be assigned to it", m.Name, m.Value)
	}
	m.used = true
	c.unify(s, &m.Value, c.asValue(t), m.Name)
	s.Target.Type = m.Value
}

// store notes that a variable gets a value of type t.
func (c *checker) store(e *Expr, t Type) {
	v := c.vars[e.Name]
	if v == nil {
		v = &local{}
		c.vars[e.Name] = v
		c.order = append(c.order, v)
	}
	if !v.fixed || !v.isInt() || !t.isInt() {
		c.unify(&Stmt{Span: e.Span}, &v.Type, t, plain(e.Name))
	}
	e.Type = v.Type
}

// unify makes the type of a map or a variable fit for another value.
func (c *checker) unify(s *Stmt, have *Type, t Type, name string) {
	switch {
	case t.Kind == Unknown:
		return
	case have.Kind != Unknown && !have.fits(t):
		c.fail(s.Span, "%s has values of type %s, and this is of type %s", name, have, t)
	}
	if wide := have.wider(t); !same(*have, wide) {
		*have, c.changed = wide, true
	}
}

func same(a, b Type) bool {
	return a.Kind == b.Kind && a.Bytes == b.Bytes && a.Signed == b.Signed && a.Enum == b.Enum && a.Literal == b.Literal && slices.EqualFunc(a.Elems, b.Elems, same)
}

// condition checks what is compared with 0.
func (c *checker) condition(e *Expr) {
	if t := c.expr(e); t.Kind != Unknown && !t.isInt() {
		c.fail(e.Span, "a condition is an integer, and this is of type %s", t)
	}
}

// number checks what must be an integer.
func (c *checker) number(e *Expr) Type {
	t := c.expr(e)
	if t.Kind != Unknown && !t.isInt() {
		c.fail(e.Span, "expected an integer, and this is of type %s", t)
	}
	return t
}

// constant returns the number of an expression that is known now.
func (c *checker) constant(e *Expr) (int64, bool) {
	switch {
	case e.Kind == Number:
		return int64(e.Value), true
	case e.Kind == Parameter && e.Value == 0:
		return int64(len(c.Params)), true
	case e.Kind == Parameter:
		if e.Name, _ = c.Script.param(int(e.Value)); e.Name == "" {
			e.Name = "0"
		}
		n, ok := parameterNumber(e.Name)
		return int64(n), ok
	case e.Kind == Unary && e.Op == "-":
		n, ok := c.constant(e.Args[0])
		return -n, ok
	case e.Kind == Binary:
		a, ok := c.constant(e.Args[0])
		b, known := c.constant(e.Args[1])
		if !ok || !known {
			return 0, false
		}
		switch e.Op {
		case "+":
			return a + b, true
		case "-":
			return a - b, true
		case "*":
			return a * b, true
		}
	}
	return 0, false
}
