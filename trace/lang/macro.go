package lang

import (
	"fmt"
	"strings"
)

// macro reads "macro name(a, $b, @c) { … }".
func (p *parser) macro(s *Script) {
	p.advance()
	name := p.word("the name of a macro")
	m := &Macro{Span: name.Span, Name: name.text}
	if p.accept("(") {
		for !p.tok.is(")") {
			if t := p.tok; t.kind != word && t.kind != variable && t.kind != mapName {
				p.unexpected("the name of an argument")
			}
			m.Params = append(m.Params, p.tok.text)
			p.advance()
			if !p.accept(",") && !p.tok.is(")") {
				p.unexpected("\",\" or \")\"")
			}
		}
		p.expect(")")
	}
	begin := p.expect("{")
	m.Body = p.blockOf(begin)
	p.at = p.prev.To
	if s.macroOf(m.Name, len(m.Params)) != nil {
		p.fail(name.Span, "the macro %s is declared a second time", m.Name)
	}
	s.Macros = append(s.Macros, m)
}

func (s *Script) macroOf(name string, args int) *Macro {
	for _, m := range s.Macros {
		if m.Name == name && len(m.Params) == args {
			return m
		}
	}
	return nil
}

// expansion puts the bodies of macros where they are called.
type expansion struct {
	*Script
	calls int // numbers the expansions, which makes the names of their variables differ
	parts int // expressions copied so far
}

// maxCalls is how many calls of macros a script may come to, and maxParts how many expressions.
const (
	maxCalls = 1024
	maxParts = 2 * MaxBytes
)

// expand replaces all calls of macros, and gives each scope its variables.
func (s *Script) expand() {
	x := &expansion{Script: s}
	for _, p := range s.Probes {
		if p.Filter != nil {
			p.Filter = x.expr(p.Filter, nil)
		}
		p.Body = x.body(p.Body, nil)
		s.scopes(p)
	}
}

// binding is what a macro's body is copied with.
type binding struct {
	args   map[string]*Expr
	suffix string // of its own variables
	via    []Span // the calls that lead here
	macro  *Macro
}

func (x *expansion) body(all []*Stmt, b *binding) (copied []*Stmt) {
	for _, s := range all {
		copied = append(copied, x.statement(s, b))
	}
	return copied
}

func (x *expansion) statement(s *Stmt, b *binding) *Stmt {
	c := *s
	for _, e := range []**Expr{&c.Target, &c.Value, &c.Limit} {
		if *e != nil {
			*e = x.expr(*e, b)
		}
	}
	c.Type = x.typeName(s.Type, b)
	c.Body, c.Else = x.body(s.Body, b), x.body(s.Else, b)
	if c.Kind == Assign && c.Target.Kind != Variable && c.Target.Kind != MapValue {
		x.Source.fail(c.Span, "only a variable or a map can be assigned to")
	}
	return &c
}

// expr copies an expression; in a macro's body, with its arguments in place.
func (x *expansion) expr(e *Expr, b *binding) *Expr {
	if b != nil {
		if arg := b.args[e.Name]; arg != nil && (e.Kind == Variable || e.Kind == MapValue || e.Kind == Builtin) {
			return x.argument(e, arg, b)
		}
	}
	if x.parts++; x.parts > maxParts {
		x.Source.fail(e.Span, "the script is too large: with its macros in place, and each a ?: b as a ? a : b, it has more than %d expressions", maxParts)
	}
	c := *e
	c.Args = make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		c.Args[i] = x.expr(a, b)
	}
	c.Body, c.To = x.body(e.Body, b), x.typeName(e.To, b)
	if b != nil {
		c.Via = b.via
		switch {
		case c.Kind == Variable:
			c.Name += b.suffix
		case c.Kind == MapValue:
			x.Source.fail(e.Span, "the macro %s has no argument %s: a macro is given the maps that it uses", b.macro.Name, e.Name)
		}
	}
	if c.Kind == Call || c.Kind == Builtin {
		if m := x.macroOf(c.Name, len(c.Args)); m != nil {
			return x.call(&c, m)
		}
	}
	return &c
}

// argument is what stands for the name of an argument.
func (x *expansion) argument(e, arg *Expr, b *binding) *Expr {
	c := *arg
	if e.Kind == MapValue && len(e.Args) > 0 {
		c.Args = nil
		for _, a := range e.Args {
			c.Args = append(c.Args, x.expr(a, b))
		}
	} else if e.Kind == Builtin { // each use has its own
		return x.expr(arg, nil)
	}
	return &c
}

// call copies the body of a macro.
func (x *expansion) call(e *Expr, m *Macro) *Expr {
	if x.calls++; x.calls > maxCalls || len(e.Via) >= maxDepth {
		x.Source.fail(e.Span, "macros are called more than %d times, or %d deep", maxCalls, maxDepth)
	}
	b := &binding{args: map[string]*Expr{}, suffix: fmt.Sprintf("#m%d", x.calls), via: append([]Span{e.Span}, e.Via...), macro: m}
	for i, name := range m.Params {
		arg := e.Args[i]
		if name[0] == '$' && arg.Kind != Variable || name[0] == '@' && (arg.Kind != MapValue || len(arg.Args) > 0) {
			x.Source.fail(arg.Span, "the macro %s wants %s here", m.Name, map[byte]string{'$': "a variable", '@': "a map"}[name[0]])
		}
		b.args[name] = arg
	}
	c := *m.Body
	c.Span, c.Body, c.Args = e.Span, x.body(m.Body.Body, b), nil
	for _, a := range m.Body.Args {
		c.Args = append(c.Args, x.expr(a, b))
	}
	return &c
}

// typeName copies a type; the name of an argument stands for the type it was given.
func (x *expansion) typeName(t *TypeName, b *binding) *TypeName {
	if t == nil {
		return nil
	}
	c := *t
	if t.Of != nil {
		c.Of = x.expr(t.Of, b)
	}
	if b != nil && b.args[t.Name] != nil && !strings.ContainsAny(t.Name, "$@") {
		c.Of, c.Name = b.args[t.Name], ""
	}
	return &c
}
