package lang

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// checker finds the types of maps, variables and expressions. It goes over the script until no type
// changes any more, since a map may be read before the statement that says what is in it. What is not
// known yet is no mistake but in the last pass.
type checker struct {
	*Script
	opt      *Options
	settings Settings
	maps     map[string]*Map
	scopes   map[*Point]*scope
	changed  bool
	final    bool

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
	at    int // on the stack or in scratch memory: see generator
	fixed bool
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
			return
		}
		c.final = !c.changed || pass == maxPasses
	}
}

func (c *checker) declare(d MapDecl) {
	switch {
	case d.Kind != "hash" && d.Kind != "percpuhash" && d.Kind != "lruhash":
		c.Source.fail(d.Span, "there are no maps of type %s: give hash or percpuhash", d.Kind)
	case d.Entries == 0 || d.Entries > 1<<20:
		c.Source.fail(d.Span, "a map has 1 to %d keys", 1<<20)
	case c.maps[d.Name] != nil:
		c.Source.fail(d.Span, "%s is declared a second time", d.Name)
	}
	c.maps[d.Name] = &Map{Name: d.Name, entries: int(d.Entries), where: d.Span}
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
	for i, o := range p.Options {
		if n, ok := strings.CutPrefix(o, "$"); ok {
			value, _ := c.parameter(n)
			p.Options[i] = value
		}
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

func (c *checker) fail(at Span, format string, args ...any) { c.Source.fail(at, format, args...) }

// parameter is an argument of the script; one that was not given is 0, or "".
func (c *checker) parameter(n string) (string, bool) {
	i, err := strconv.Atoi(n)
	if err != nil || i < 1 || i > len(c.opt.Params) {
		return "", false
	}
	return c.opt.Params[i-1], true
}

func (c *checker) statements(all []*Stmt) {
	for _, s := range all {
		c.statement(s)
	}
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
		if n, ok := c.constant(s.Value); !ok || n < 1 || n > 100 {
			c.fail(s.Value.Span, "unroll needs a number from 1 to 100")
		}
		c.body(s.Body)
	case For:
		c.number(s.Value)
		c.number(s.Limit)
		c.store(s.Target, int64Type)
		c.body(s.Body)
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
	t := c.expr(e)
	if t.Aggregates() && e.Kind == Call {
		c.fail(e.Span, "%s() must be assigned to a map: @ = %s(…)", e.Name, e.Name)
	}
	if e.Kind != Call && e.Kind != Step {
		c.fail(e.Span, "this has no effect")
	}
}

func (c *checker) body(all []*Stmt) {
	c.loops++
	c.statements(all)
	c.loops--
}

func (c *checker) let(s *Stmt) {
	name := s.Target.Name
	if v := c.vars[name]; v != nil && c.final && v.fixed && s.Type != nil && !v.fits(c.typeOf(s.Type)) {
		c.fail(s.Target.Span, "%s is declared a second time, with another type", name)
	}
	if s.Type != nil {
		c.store(s.Target, c.asValue(c.typeOf(s.Type)))
		c.vars[name].fixed = true
	} else if s.Value == nil && c.vars[name] == nil {
		c.vars[name] = &local{}
		c.order = append(c.order, c.vars[name])
	}
	if s.Value != nil {
		c.store(s.Target, c.asValue(c.expr(s.Value)))
	}
	s.Target.Type = c.vars[name].Type
}

// asValue is the type of a variable that is assigned something of type t: all numbers have 8 bytes.
func (c *checker) asValue(t Type) Type {
	if t.Kind == Int || t.Kind == Bool {
		return integer(8, t.Signed || t.Kind == Bool)
	}
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
		c.fail(s.Value.Span, "%s() returns nothing", s.Value.Name)
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
	c.unify(&Stmt{Span: e.Span}, &v.Type, t, e.Name)
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
	return a.Kind == b.Kind && a.Bytes == b.Bytes && a.Signed == b.Signed && slices.EqualFunc(a.Elems, b.Elems, same)
}

// key checks the key of a map, and what kinds of keys the map has.
func (c *checker) key(e *Expr) {
	m := c.maps[e.Name]
	if m == nil {
		m = &Map{Name: e.Name, where: e.Span}
		c.maps[e.Name], c.changed = m, true
	}
	e.m = m
	types := make([]Type, len(e.Args))
	for i, a := range e.Args {
		types[i] = c.asValue(c.expr(a))
		if t := types[i]; t.Aggregates() || t.Kind == Void || t.Kind == StructOf || t.Kind == ArrayOf {
			c.fail(a.Span, "%s cannot be part of a key", t)
		}
	}
	if !m.known {
		m.known, m.Key, m.where, c.changed = true, types, e.Span, true
		return
	}
	switch {
	case len(m.Key) == 0 && len(types) > 0:
		c.fail(e.Span, "%s has no key elsewhere", m.Name)
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
	case e.Kind == Parameter:
		n, err := strconv.ParseInt(e.Name, 0, 64)
		return n, err == nil
	case e.Kind == Unary && e.Op == "-":
		n, ok := c.constant(e.Args[0])
		return -n, ok
	}
	return 0, false
}

// configure reads the config.
func (c *checker) configure() {
	c.settings = Settings{MaxKeys: 4096, MaxString: 64, RingBytes: 64 << 10, Stack: 127, PrintMaps: true}
	sizes := map[string]struct {
		to        *int
		low, high int
	}{"max_map_keys": {&c.settings.MaxKeys, 1, 1 << 20}, "max_strlen": {&c.settings.MaxString, 8, 1024}}
	names := append(keys(sizes), "print_maps_on_exit", "perf_rb_pages", "stack_mode", "missing_probes")
	for _, s := range c.Config {
		size, ok := sizes[s.Name]
		n, err := strconv.ParseUint(s.Value, 0, 32)
		switch {
		case ok && (err != nil || int(n) < size.low || int(n) > size.high):
			c.fail(s.Span, "%s is a number from %d to %d", s.Name, size.low, size.high)
		case ok:
			*size.to = up(int(n))
			if s.Name == "max_map_keys" {
				*size.to = int(n)
			}
		case s.Name == "print_maps_on_exit":
			c.settings.PrintMaps = s.Value == "true" || s.Value == "1"
		case !slices.Contains(names, s.Name):
			c.Source.failHint(s.Span, didYouMean(s.Name, names), "there is no setting %s", s.Name)
		default:
			c.fail(s.Span, "the setting %s is not supported", s.Name)
		}
	}
}
