package lang

import (
	"errors"
	"slices"
)

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

var errNoProgram = errors.New("no type of a program is meant")

// typeOf is the type that a name stands for, or that of an expression.
func (c *checker) typeOf(n *TypeName) Type {
	if n.Of == nil {
		t, err := c.typeOfProgram(n)
		switch {
		case err == nil:
			return n.wrap(c.Script, t)
		case n.Struct && n.Stars == 0 && c.Script.structOf(n.Name) == nil && err != errNoProgram:
			c.Source.failHint(n.Span, err.Error(), "there is no struct %s in the script, nor in the program", n.Name)
		}
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

// typeOfProgram is a type of the program that is probed, unless the script declares one of that name.
//
// Errors: errNoProgram that is not to be looked at; it has none.
func (c *checker) typeOfProgram(n *TypeName) (t Type, err error) {
	if _, basic := basicTypes[n.Name]; c.target == nil || c.target.CType == nil || basic && !n.Struct || c.declared(n.Name) != nil || c.enumOf(n.Name) != nil {
		return t, errNoProgram
	}
	t, err = c.target.CType(n.Name)
	t.User = true
	return t, err
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
	if m != nil {
		m.uses++
	}
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
		value = integer(8, value.Signed)
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
	if t.Aggregates() && s.Op == "=" {
		c.noteSlot(s.Target)
	}
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
	case have.Kind == t.Kind && have.Aggregates() && !have.fits(t):
		c.fail(s.Span, "%s keeps %s, and this is %s: in one map, they must be the same", name, have.call(), t.call())
	case have.Kind != Unknown && !have.fits(t):
		c.fail(s.Span, "%s has values of type %s, and this is of type %s", name, have, t)
	}
	wide := have.wider(t)
	if wide.words() > maxScratch/8 {
		c.fail(s.Span, "%s would have values of more than %d bytes", name, maxScratch)
	}
	if !same(*have, wide) {
		*have, c.changed = wide, true
	}
}

func same(a, b Type) bool {
	return a.Kind == b.Kind && a.Bytes == b.Bytes && a.Signed == b.Signed && a.Enum == b.Enum && a.Literal == b.Literal && slices.EqualFunc(a.Elems, b.Elems, same)
}
