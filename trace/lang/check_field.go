package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (c *checker) cast(e *Expr) Type {
	from, to := c.expr(e.Args[0]), c.typeOf(e.To)
	switch {
	case to.Kind == String && e.To.IsArray, to.Kind == ArrayOf:
		return c.castArray(e, from, to)
	case to.Kind != Int && to.Kind != Bool && to.Kind != Pointer:
		c.fail(e.To.Span, "a cast to %s is not supported", to)
	case from.Kind != Unknown && !from.isInt():
		c.fail(e.Span, "%s cannot be made %s", from, to)
	}
	to.User = from.User || c.target.User
	return to
}

// castArray makes the bytes of a number or a string an array.
func (c *checker) castArray(e *Expr, from, to Type) Type {
	if to.Kind == String { // char[]
		elem := integer(1, true)
		to = Type{Kind: ArrayOf, Elem: &elem, Bytes: to.Bytes}
	}
	have := from.Bytes
	switch {
	case from.Kind == Unknown:
		return from
	case from.Kind != Int && from.Kind != String || to.Elem.Kind != Int && to.Elem.Kind != Bool:
		c.fail(e.Span, "%s cannot be made %s", from, to)
	case from.Kind == Int && from.Literal:
		have = 8
	}
	if to.Bytes == 0 {
		to.Bytes = have / to.Elem.Bytes * to.Elem.Bytes
	}
	if to.Bytes > have || to.Bytes == 0 {
		c.fail(e.Span, "%s has %d bytes, and %s would have %d", from, have, to, to.Bytes)
	}
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
	if setting, ok := c.settingOf(e); ok {
		return setting
	}
	t := c.expr(of)
	switch {
	case t.Kind == Unknown:
		return t
	case t.Kind == TupleOf:
		i, err := strconv.Atoi(e.Name)
		if at := slices.Index(t.Names, e.Name); at >= 0 {
			i, err = at, nil
		}
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
	f, names := t.To.find(e.Name)
	if f != nil {
		of := f.Type
		of.User = t.User
		return c.readable(of)
	}
	hint := fieldHint(e.Name, names)
	if len(names) == 0 && c.target != nil && c.target.CType != nil {
		if _, err := c.target.CType(t.To.Name); err != nil {
			hint += ": " + err.Error()
		}
	}
	c.Source.failHint(e.Span, hint, "struct %s has no field %s", t.To.Name, e.Name)
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

// inside says why nothing is known of arguments where a function has begun already.
var inside = map[string]string{
	"inline": "each copy has them elsewhere: give one function, and no pattern",
	"line":   "they are known where the function is entered: kprobe has them",
}

// argument checks args.NAME and ret.N.
func (c *checker) argument(e *Expr) Type {
	if t, ok := c.common(e); ok {
		return t
	}
	of, what := e.Args[0].Name, map[string]string{"args": "argument", "ret": "result"}[e.Args[0].Name]
	var names []string
	for i, f := range c.target.named(of) {
		if f.Name == e.Name {
			if f.Type.Kind == StructOf || f.Type.Kind == ArrayOf {
				c.fail(e.Span, "%s.%s is a %s in registers: only what a pointer leads to can be read", of, e.Name, f.Type)
			}
			e.Value = uint64(i)
			c.reads(e, f)
			f.Type.User = f.Type.User || c.target.User
			return c.readable(f.Type)
		}
		names = append(names, f.Name)
	}
	switch {
	case c.target.unknown != nil:
		c.fail(e.Span, "nothing is known of the %ss of %s: %v", what, c.point.Text, c.target.unknown)
	case len(names) == 0:
		c.Source.failHint(e.Span, inside[c.point.Provider], "nothing is known of the %ss of %s", what, c.point.Text)
	}
	c.Source.failHint(e.Span, fieldHint(e.Name, names), "%s has no %s %s", c.point.Text, what, e.Name)
	return Type{}
}

// common checks a field that all tracepoints have: none says anything that is not known otherwise.
func (c *checker) common(e *Expr) (Type, bool) {
	if c.point.Provider != "tracepoint" || e.Args[0].Name != "args" {
		return Type{}, false
	}
	switch e.Name {
	case "common_pid":
		e.Kind, e.Name, e.Args = Builtin, "tid", nil
	case "common_type":
		e.Kind, e.Value = Number, c.target.ID
	case "common_flags", "common_preempt_count":
		e.Kind, e.Value = Number, 0
	default:
		return Type{}, false
	}
	return c.typeOfExpr(e), true
}

// allArguments makes args a record of all arguments.
func (c *checker) allArguments(e *Expr) Type {
	e.Kind, e.Op, e.Args, e.Names = Tuple, "args", nil, nil
	for _, f := range c.target.named("args") {
		if f.Alias || f.Type.Kind == StructOf || f.Type.Kind == ArrayOf || f.Copies != nil && len(f.Copies) == 0 {
			continue // it is there already, or in registers, or nowhere
		}
		of := &Expr{Span: e.Span, Kind: Builtin, Name: "args"}
		e.Args, e.Names = append(e.Args, &Expr{Span: e.Span, Kind: Field, Name: f.Name, Args: []*Expr{of}}), append(e.Names, f.Name)
	}
	if len(e.Args) == 0 {
		c.argument(&Expr{Span: e.Span, Name: "args", Args: []*Expr{{Name: "args"}}})
	}
	return c.tuple(e)
}

// readable is the type of a value that is read: a string of Go has the length of all strings.
func (c *checker) readable(t Type) Type {
	if t.Go {
		t.Bytes = c.settings.MaxString
	}
	return t
}

// elementOf makes args.NAME[N] an argument where each element is one.
func (c *checker) elementOf(e *Expr) {
	n, known := c.constant(e.Args[1])
	if of := e.Args[0]; known && isArgument(of) && c.target != nil {
		name := fmt.Sprintf("%s[%d]", of.Name, n)
		if slices.ContainsFunc(c.target.named(of.Args[0].Name), func(f ArgField) bool { return f.Name == name }) {
			e.Kind, e.Name, e.Args = Field, name, of.Args
		}
	}
}

func (c *checker) index(e *Expr) Type {
	if c.elementOf(e); e.Kind == Field {
		return c.field(e)
	}
	t := c.expr(e.Args[0])
	c.number(e.Args[1])
	switch {
	case t.Kind == Unknown:
		return t
	case t.Kind == TupleOf:
		return c.tuplePart(e, t)
	case t.Kind == String:
		return integer(1, true)
	case t.Kind == SliceOf || t.Kind == Pointer && t.Elem != nil && t.Elem.Kind != Void:
		elem := *t.Elem
		elem.User = t.User
		return c.readable(elem)
	case t.Kind == ArrayOf:
		n, known := c.constant(e.Args[1])
		if length := int64(t.Bytes / max(1, t.Elem.Bytes)); known && (n < 0 || n >= length && length > 0) {
			c.fail(e.Span, "the index %d is out of bounds for array of size %d", n, length)
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
		c.offsetOf(e)
	case e.To != nil:
		n, _ := c.typeOf(e.To).inC()
		e.Value = uint64(n)
	default:
		t := c.expr(e.Args[0])
		n, _ := t.inC()
		e.Value = uint64(n)
	}
	return uint64Type
}

// offsetOf adds up where the fields of a path are.
func (c *checker) offsetOf(e *Expr) {
	t := c.typeOf(e.To)
	e.Value = 0
	for name := range strings.SplitSeq(e.Name, ".") {
		if t.To == nil || t.Kind != StructOf {
			c.fail(e.Span, "%s has no fields", t)
		}
		f, names := t.To.find(name)
		if f == nil {
			c.Source.failHint(e.Span, fieldHint(name, names), "struct %s has no field %s", t.To.Name, name)
		}
		e.Value += uint64(f.Offset)
		t = f.Type
	}
}

// tuplePart checks t[1 + 1].
func (c *checker) tuplePart(e *Expr, t Type) Type {
	i, ok := c.constant(e.Args[1])
	if !ok || i < 0 || i >= int64(len(t.Elems)) {
		c.fail(e.Span, "the part of a tuple is a number from 0 to %d that is known before", len(t.Elems)-1)
	}
	e.Kind, e.Name, e.Args = Field, strconv.FormatInt(i, 10), e.Args[:1]
	return t.Elems[i]
}

// settingOf checks config().name: it is a constant.
func (c *checker) settingOf(e *Expr) (Type, bool) {
	of := e.Args[0]
	if of.Name != "config" || of.Kind != Builtin && of.Kind != Call {
		return Type{}, false
	}
	numbers := map[string]int{"max_strlen": c.settings.MaxString, "max_map_keys": c.settings.MaxKeys, "max_cat_bytes": c.settings.MaxCat, "max_probes": c.settings.MaxProbes,
		"print_maps_on_exit": pick(c.settings.PrintMaps, 1, 0), "cpp_demangle": 1}
	texts := map[string]string{"stack_mode": c.settings.StackMode, "license": "GPL"}
	if n, ok := numbers[e.Name]; ok {
		e.Kind, e.Value = Number, uint64(n)
	} else if text, ok := texts[e.Name]; ok {
		e.Kind, e.Name = Text, text
	} else {
		c.fail(e.Span, "there is no setting %s", e.Name)
	}
	return c.typeOfExpr(e), true
}
