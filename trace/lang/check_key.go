package lang

// key checks the key of a map, and what kinds of keys the map has.
func (c *checker) key(e *Expr) {
	m := c.maps[e.Name]
	if m == nil {
		m = &Map{Name: e.Name, where: e.Span}
		c.maps[e.Name], c.changed = m, true
	}
	e.m = m
	m.uses++
	types := c.keyTypes(e)
	if !m.known {
		m.known, m.Key, m.where, c.changed = true, types, e.Span, true
		return
	}
	switch {
	case len(m.Key) == 0 && len(types) > 0:
		c.fail(e.Span, "%s has no key elsewhere: expected a map with explicit keys", m.Name)
	case len(types) == 0 && len(m.Key) > 0:
		c.fail(e.Span, "%s needs a key of type %s", m.Name, keyText(m.Key))
	case len(types) != len(m.Key):
		c.fail(e.Span, "%s has keys of type %s, and this is of type %s", m.Name, keyText(m.Key), keyText(types))
	}
	for i, t := range types {
		if t.Kind != Unknown && m.Key[i].Kind != Unknown && !m.Key[i].fits(t) {
			c.fail(e.Span, "%s has keys of type %s, and this is of type %s", m.Name, keyText(m.Key), keyText(types))
		}
		c.unify(&Stmt{Span: e.Span}, &m.Key[i], t, m.Name)
	}
}

func keyText(key []Type) string { return Type{Kind: TupleOf, Elems: key}.String() }

// keyTypes are the types of a key's parts: those of a tuple, if it is one.
func (c *checker) keyTypes(e *Expr) []Type {
	types := make([]Type, len(e.Args))
	for i, a := range e.Args {
		types[i] = c.asValue(c.expr(a))
		if t := types[i]; t.Aggregates() || t.Kind == Void {
			c.fail(a.Span, "%s cannot be part of a key", t)
		}
	}
	if len(types) == 1 && types[0].isPlainTuple() {
		return types[0].Elems
	}
	return types
}
