package lang

// speculate() has what a probe says from there on held back, until commit() lets it be printed or discard()
// drops it, in the same thread or by the number that speculate() has returned. That number is the thread's,
// plus 1; records have it as the last word before their values.

func (c *checker) speculate(*Expr) Type {
	c.settings.Speculates = true
	return int64Type
}

// endSpeculation checks commit() and discard().
func (c *checker) endSpeculation(e *Expr) Type {
	c.settings.Speculates = true
	for _, a := range e.Args {
		c.number(a)
	}
	return voidType
}

// held is where a program keeps which speculation its records belong to; 0: to none.
func (g *generator) held() place {
	if g.depth > 0 {
		return place{"r7", g.heldAt}
	}
	return place{"r10", g.heldAt}
}

// thread leaves the number of this thread's speculation in R0.
func (g *generator) thread() {
	g.emit("call 14")
	g.truncate(integer(4, false))
	g.emit("r0 += 1")
}

// begins generates speculate().
func (g *generator) begins() {
	g.thread()
	g.emit("*(u64 *)(%s) = r0", g.held())
}

// endSpeculation generates commit() and discard().
func (g *generator) endSpeculation(e *Expr) {
	g.emit("*(u64 *)(%s) = 0", g.held())
	a := &Action{Kind: pick(e.Name == "commit", Commit, Discard), Args: []Type{int64Type}, Span: e.Span}
	to := g.begin(a, g.head()+8)
	if len(e.Args) > 0 {
		g.number(e.Args[0])
	} else {
		g.thread()
	}
	g.emit("*(u64 *)(%s) = r0", to.plus(g.head()))
	g.send(to, a)
}

// hold notes in a record which speculation it belongs to.
func (g *generator) hold(to place) {
	g.emit("r0 = *(u64 *)(%s)", g.held())
	g.emit("*(u64 *)(%s) = r0", to.plus(g.head()-8))
}
