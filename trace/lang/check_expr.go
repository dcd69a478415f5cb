package lang

import (
	"strconv"
)

// expr finds the type of an expression, and checks what it is made of.
func (c *checker) expr(e *Expr) Type {
	e.Type = c.typeOfExpr(e)
	return e.Type
}

func (c *checker) typeOfExpr(e *Expr) Type {
	switch e.Kind {
	case Number:
		if e.Op == "bool" {
			return boolType
		}
		if e.Op == "enum" {
			return e.Type
		}
		return literal(e.Value)
	case BlockOf:
		return c.blockOf(e)
	case TypeOf:
		return c.typeOf(&TypeName{Span: e.Span, Of: e})
	case Text:
		if e.Op != "" { // it was a builtin at another point
			e.Kind, e.Name, e.Op = Builtin, e.Op, ""
			return c.builtin(e)
		}
		return stringType(min(len(e.Name)+1, c.settings.MaxString))
	case Parameter:
		return c.param(e)
	case Variable:
		v := c.vars[e.Name]
		if v == nil || c.final && v.Type.Kind == Unknown {
			c.Source.failHint(e.Span, didYouMean(plain(e.Name), keys(c.vars)), "the variable %s has no value here", plain(e.Name))
		}
		return v.Type
	case MapValue:
		return c.mapValue(e)
	case Builtin:
		return c.builtin(e)
	case Call:
		return c.call(e)
	case Unary:
		return c.unary(e)
	case Binary:
		return c.binary(e)
	case Step:
		return c.step(e)
	case Choice:
		return c.choice(e)
	case Cast:
		return c.cast(e)
	case Tuple:
		if e.Op == "args" { // it was others at another point
			return c.allArguments(e)
		}
		t := c.tuple(e)
		t.Format = e.Op
		return t
	case Field:
		return c.field(e)
	case Index:
		return c.index(e)
	}
	return c.sizeOf(e)
}

// param is an argument of the script: an integer if it looks like one, otherwise a string.
func (c *checker) param(e *Expr) Type {
	if e.Value == 0 {
		e.Name = strconv.Itoa(len(c.Params))
		return int64Type
	}
	e.Name = "0"
	if text, ok := c.Script.param(int(e.Value)); ok {
		e.Name = text
	}
	if n, ok := parameterNumber(e.Name); ok {
		return literal(n)
	}
	return stringType(min(len(e.Name)+1, c.settings.MaxString))
}

// parameterNumber is an argument of the script that is a number, with a sign or without.
func parameterNumber(text string) (uint64, bool) {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return uint64(n), true
	}
	n, err := strconv.ParseUint(text, 0, 64)
	return n, err == nil
}

func (c *checker) tuple(e *Expr) Type {
	t := Type{Kind: TupleOf, Names: e.Names}
	for _, a := range e.Args {
		of := c.asValue(c.expr(a))
		if of.Kind == Void || of.Aggregates() {
			c.fail(a.Span, "%s cannot be part of a tuple", of)
		}
		t.Elems = append(t.Elems, of)
	}
	return t
}

// blockOf checks the statements of a block, and its value.
func (c *checker) blockOf(e *Expr) Type {
	c.statements(e.Body)
	if len(e.Args) == 0 {
		return voidType
	}
	return c.expr(e.Args[0])
}

func (c *checker) mapValue(e *Expr) Type {
	c.key(e)
	t := e.m.Value
	if t.sums() {
		return integer(8, t.Signed)
	}
	if t.Kind == Unknown && c.final {
		c.Source.failHint(e.Span, didYouMean(e.Name, c.assigned()), "nothing is ever assigned to %s", e.Name)
	}
	return t
}

func (c *checker) assigned() (names []string) {
	for _, name := range keys(c.maps) {
		if c.maps[name].Value.Kind != Unknown {
			names = append(names, name)
		}
	}
	return names
}

func (c *checker) unary(e *Expr) Type {
	t := c.expr(e.Args[0])
	switch e.Op {
	case "*":
		switch {
		case t.Kind == Int && t.Bytes == 8:
			return Type{Kind: Int, Bytes: 8, User: t.User} // as bpftrace has it: an address is often a number
		case t.Kind != Pointer && t.Kind != Unknown:
			c.fail(e.Span, "only a pointer or an address can be followed by *, and this is of type %s: cast it, as in *(uint64*)x", t)
		}
		if t.Elem != nil && t.Elem.Kind != Void {
			return *t.Elem
		}
		if t.To != nil {
			return Type{Kind: StructOf, To: t.To, Bytes: t.To.Bytes, User: t.User}
		}
		if t.Kind == Pointer {
			c.fail(e.Span, "what %s points to is not known: cast it, as in *(uint64*)x", t)
		}
		return t
	case "&":
		c.fail(e.Span, "&%s is not supported: programs give away no addresses of what they keep", plain(e.Args[0].Name))
	}
	c.number(e.Args[0])
	switch n, ok := c.constant(e.Args[0]); {
	case e.Op == "!":
		return boolType
	case e.Op == "-" && ok && n > 0:
		t = literal(uint64(n - 1))
		t.Signed = true
		return t
	}
	return integer(max(t.Bytes, 1), t.Signed || e.Op == "-")
}

func (c *checker) binary(e *Expr) Type {
	a, b := c.expr(e.Args[0]), c.expr(e.Args[1])
	compares := e.Op == "==" || e.Op == "!="
	switch {
	case a.Kind == Unknown || b.Kind == Unknown:
	case compares && a.Kind == String && b.Kind == String, compares && a.Kind == Bytes && b.Kind == Bytes,
		compares && (a.Kind == TupleOf || a.Kind == ArrayOf) && a.fits(b):
	case !a.isInt() && !b.isInt() && a.Kind == b.Kind && compares:
		c.fail(e.Span, "values of type %s cannot be compared", a)
	case !a.isInt() || !b.isInt():
		c.fail(e.Span, "%s does not work on %s and %s", e.Op, a, b)
	}
	switch e.Op {
	case "==", "!=", "<", "<=", ">", ">=", "&&", "||":
		return boolType
	}
	if a.Kind == Pointer {
		return a
	}
	if b.Kind == Pointer {
		return b
	}
	if n, ok := c.constant(e.Args[1]); ok && n == 0 && (e.Op == "/" || e.Op == "%") && c.final {
		c.warn(e.Span, "this divides by 0: the result is 1")
	}
	return integer(max(a.Bytes, b.Bytes), e.Op == "-" || c.signed(e))
}

// signed tells whether two operands are calculated with as signed numbers: a number that is written out
// takes the other one's sign.
func (c *checker) signed(e *Expr) bool {
	a, b := e.Args[0].Type, e.Args[1].Type
	signs := func(t Type) bool { return t.Signed || t.Kind == Bool }
	if _, literal := c.constant(e.Args[1]); literal && b.Signed {
		return signs(a)
	}
	if _, literal := c.constant(e.Args[0]); literal && a.Signed {
		return signs(b)
	}
	return signs(a) && signs(b)
}

// step checks ++ and --: a map that is only counted gets its type from it.
func (c *checker) step(e *Expr) Type {
	a := e.Args[0]
	if a.Kind == MapValue {
		c.key(a)
		if a.m.Value.Kind == Unknown {
			a.m.Value, c.changed = int64Type, true
		}
		if !a.m.Value.isInt() {
			c.fail(e.Span, "%s works on integers, not on %s", e.Op, a.m.Value)
		}
		a.m.used = true
		a.Type = a.m.Value
		return a.Type
	}
	return c.number(a)
}

func (c *checker) choice(e *Expr) Type {
	c.condition(e.Args[0])
	a, b := c.expr(e.Args[1]), c.expr(e.Args[2])
	switch {
	case a.Kind == Unknown:
		return b
	case b.Kind == Unknown:
		return a
	case a.Kind == Void && b.Kind == Void:
		return voidType
	case !a.fits(b) || a.Aggregates():
		c.fail(e.Span, "both sides of \":\" must be of one type, and these are of %s and %s", a, b)
	}
	return a.wider(b)
}
