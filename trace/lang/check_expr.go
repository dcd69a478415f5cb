package lang

import (
	"strconv"
	"strings"
)

// expr finds the type of an expression, and checks what it is made of.
func (c *checker) expr(e *Expr) Type {
	e.Type = c.typeOfExpr(e)
	return e.Type
}

func (c *checker) typeOfExpr(e *Expr) Type {
	switch e.Kind {
	case Number:
		return integer(8, int64(e.Value) >= 0)
	case Text:
		return stringType(min(len(e.Name)+1, c.settings.MaxString))
	case Parameter:
		return c.param(e)
	case Variable:
		v := c.vars[e.Name]
		if v == nil || c.final && v.Type.Kind == Unknown {
			c.Source.failHint(e.Span, didYouMean(e.Name, keys(c.vars)), "the variable %s has no value here", e.Name)
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
		t := Type{Kind: TupleOf}
		for _, a := range e.Args {
			t.Elems = append(t.Elems, c.asValue(c.expr(a)))
		}
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
		e.Name = strconv.Itoa(len(c.opt.Params))
		return int64Type
	}
	e.Name = "0"
	if text, ok := c.parameter(strconv.FormatUint(e.Value, 10)); ok {
		e.Name = text
	}
	if _, err := strconv.ParseInt(e.Name, 0, 64); err == nil {
		return int64Type
	}
	return stringType(min(len(e.Name)+1, c.settings.MaxString))
}

func (c *checker) mapValue(e *Expr) Type {
	c.key(e)
	t := e.m.Value
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
		if t.Kind != Pointer && t.Kind != Unknown {
			c.fail(e.Span, "only a pointer can be followed by *, and this is of type %s: cast it, as in *(uint64*)x", t)
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
		c.fail(e.Span, "& is not supported")
	}
	c.number(e.Args[0])
	if e.Op == "!" {
		return boolType
	}
	return integer(8, t.Signed || e.Op == "-")
}

func (c *checker) binary(e *Expr) Type {
	a, b := c.expr(e.Args[0]), c.expr(e.Args[1])
	compares := e.Op == "==" || e.Op == "!="
	switch {
	case a.Kind == Unknown || b.Kind == Unknown:
	case compares && a.Kind == String && b.Kind == String:
	case !a.isInt() && !b.isInt() && a.Kind == b.Kind && compares:
		c.fail(e.Span, "values of type %s cannot be compared", a)
	case !a.isInt() || !b.isInt():
		c.fail(e.Span, "%s does not work on %s and %s", e.Op, a, b)
	}
	switch e.Op {
	case "==", "!=", "<", "<=", ">", ">=", "&&", "||":
		return boolType
	}
	return integer(8, c.signed(e))
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
		c.unify(&Stmt{Span: e.Span}, &a.m.Value, int64Type, a.Name)
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
	case !a.fits(b) || a.Aggregates():
		c.fail(e.Span, "both sides of \":\" must be of one type, and these are of %s and %s", a, b)
	}
	return a.wider(b)
}

func (c *checker) cast(e *Expr) Type {
	from, to := c.expr(e.Args[0]), c.typeOf(e.To)
	switch {
	case to.Kind != Int && to.Kind != Bool && to.Kind != Pointer:
		c.fail(e.To.Span, "a cast to %s is not supported", to)
	case from.Kind == Count || from.Kind == Sum || from.Kind == Min || from.Kind == Max || from.Kind == Avg:
		c.fail(e.Span, "a %s is kept for each CPU: a program cannot read it", from)
	case from.Kind != Unknown && !from.isInt():
		c.fail(e.Span, "%s cannot be made %s", from, to)
	}
	to.User = from.User || c.target.User
	return to
}

// field checks x.name: of args, of a struct or a pointer to one, of a tuple, and watch.old.
func (c *checker) field(e *Expr) Type {
	of := e.Args[0]
	if of.Kind == Builtin {
		switch of.Name {
		case "args", "ret":
			return c.argument(e)
		case "watch":
			if !c.target.Watch || e.Name != "old" && e.Name != "new" {
				c.fail(e.Span, "watch.old and watch.new are there in watchpoints alone")
			}
			return int64Type
		}
	}
	t := c.expr(of)
	switch {
	case t.Kind == Unknown:
		return t
	case t.Kind == TupleOf:
		i, err := strconv.Atoi(e.Name)
		if err != nil || i < 0 || i >= len(t.Elems) {
			c.fail(e.Span, "%s has no part %s", t, e.Name)
		}
		return t.Elems[i]
	case t.To == nil:
		c.fail(e.Span, "%s has no fields", t)
	}
	if s := c.structOf(t.To.Name); s != nil { // it may have been declared after the pointer
		t.To = s
	}
	var names []string
	for _, f := range t.To.fields() {
		if f.Name == e.Name {
			f.Type.User = t.User
			return c.readable(f.Type)
		}
		names = append(names, f.Name)
	}
	c.Source.failHint(e.Span, fieldHint(e.Name, names), "struct %s has no field %s", t.To.Name, e.Name)
	return t
}

// fieldHint offers the nearest name, or lists those there are.
func fieldHint(name string, names []string) string {
	if near := didYouMean(name, names); near != "" {
		return near
	}
	if len(names) == 0 {
		return "nothing is known of its fields"
	}
	return "there is " + strings.Join(names, ", ")
}

// argument checks args.NAME and ret.N.
func (c *checker) argument(e *Expr) Type {
	of, what := e.Args[0].Name, map[string]string{"args": "argument", "ret": "result"}[e.Args[0].Name]
	var names []string
	for i, f := range c.target.named(of) {
		if f.Name == e.Name {
			if f.Type.Kind == StructOf || f.Type.Kind == ArrayOf {
				c.fail(e.Span, "%s.%s is a %s in registers: only what a pointer leads to can be read", of, e.Name, f.Type)
			}
			e.Value = uint64(i)
			f.Type.User = f.Type.User || c.target.User
			return c.readable(f.Type)
		}
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		c.fail(e.Span, "nothing is known of the %ss of %s", what, c.point.Text)
	}
	c.Source.failHint(e.Span, fieldHint(e.Name, names), "%s has no %s %s", c.point.Text, what, e.Name)
	return Type{}
}

// readable is the type of a value that is read: a string of Go has the length of all strings.
func (c *checker) readable(t Type) Type {
	if t.Go {
		t.Bytes = c.settings.MaxString
	}
	return t
}

func (c *checker) index(e *Expr) Type {
	t := c.expr(e.Args[0])
	c.number(e.Args[1])
	switch {
	case t.Kind == Unknown:
		return t
	case t.Kind == SliceOf || t.Kind == Pointer && t.Elem != nil && t.Elem.Kind != Void:
		elem := *t.Elem
		elem.User = t.User
		return c.readable(elem)
	case t.Kind == ArrayOf:
		n, ok := c.constant(e.Args[1])
		if !ok || n < 0 || n >= int64(t.Bytes/max(1, t.Elem.Bytes)) {
			c.fail(e.Span, "an array is indexed by a number from 0 to %d", t.Bytes/max(1, t.Elem.Bytes)-1)
		}
		elem := *t.Elem
		elem.User = t.User
		return c.readable(elem)
	}
	c.fail(e.Span, "%s cannot be indexed", t)
	return t
}

func (c *checker) sizeOf(e *Expr) Type {
	switch {
	case e.Kind == OffsetOf:
		t := c.typeOf(e.To)
		if t.To == nil {
			c.fail(e.Span, "%s has no fields", t)
		}
		for _, f := range t.To.fields() {
			if f.Name == e.Name {
				e.Value = uint64(f.Offset)
				return uint64Type
			}
		}
		c.fail(e.Span, "struct %s has no field %s", t.To.Name, e.Name)
	case e.To != nil:
		e.Value = uint64(c.typeOf(e.To).Bytes)
	default:
		e.Value = uint64(max(c.expr(e.Args[0]).Bytes, 0))
	}
	return uint64Type
}
