package lang

import "strings"

// levels are the binary operators, what binds loosest first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) expr() *Expr {
	defer p.nest()()
	e := p.binary(0)
	if !p.accept("?") {
		return e
	}
	yes := e // "a ?: b"
	if !p.tok.is(":") {
		yes = p.expr()
	}
	p.expect(":")
	no := p.expr()
	return &Expr{Span: e.Span.to(no.Span), Kind: Choice, Args: []*Expr{e, yes, no}}
}

func (p *parser) binary(level int) *Expr {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for {
		op := ""
		for _, o := range levels[level] {
			if p.tok.kind == sign && p.tok.text == o {
				op = o
			}
		}
		if op == "" {
			return left
		}
		p.advance()
		right := p.binary(level + 1)
		left = &Expr{Span: left.Span.to(right.Span), Kind: Binary, Op: op, Args: []*Expr{left, right}}
	}
}

func (p *parser) unary() *Expr {
	defer p.nest()()
	begin := p.tok
	switch {
	case begin.kind != sign:
	case begin.text == "++" || begin.text == "--":
		p.advance()
		return p.step(begin.Span, begin.text, p.unary(), false)
	case begin.text == "!" || begin.text == "~" || begin.text == "-" || begin.text == "*" || begin.text == "&" || begin.text == "+":
		p.advance()
		e := p.unary()
		if begin.text == "+" {
			return e
		}
		if begin.text == "*" && e.Kind == Unary && e.Op == "&" { // *&x is x
			return e.Args[0]
		}
		return &Expr{Span: begin.to(e.Span), Kind: Unary, Op: begin.text, Args: []*Expr{e}}
	case begin.text == "(":
		if to := p.castTo(); to != nil {
			e := p.unary()
			return &Expr{Span: begin.to(e.Span), Kind: Cast, To: to, Args: []*Expr{e}}
		}
	}
	return p.postfix()
}

func (p *parser) step(begin Span, op string, e *Expr, postfix bool) *Expr {
	if e.Kind != Variable && e.Kind != MapValue {
		p.fail(e.Span, "only a variable or a map can be changed by %s", op)
	}
	return &Expr{Span: begin.to(p.prev), Kind: Step, Op: op, Postfix: postfix, Args: []*Expr{e}}
}

func (p *parser) postfix() *Expr {
	e := p.primary()
	for {
		switch begin := e.Span; {
		case p.accept(".") || p.accept("->"):
			name := p.tok
			if name.kind != word && name.kind != number {
				p.unexpected("the name of a field")
			}
			p.advance()
			e = &Expr{Span: begin.to(name.Span), Kind: Field, Name: p.Text[name.From:name.To], Args: []*Expr{e}}
		case p.accept("["):
			i := p.expr()
			p.expect("]")
			e = &Expr{Span: begin.to(p.prev), Kind: Index, Args: []*Expr{e, i}}
		case p.tok.is("++") || p.tok.is("--"):
			op := p.tok.text
			p.advance()
			e = p.step(begin, op, e, true)
		default:
			return e
		}
	}
}

func (p *parser) primary() *Expr {
	t := p.tok
	e := &Expr{Span: t.Span, Name: t.text, Value: t.value}
	switch t.kind {
	case number:
		e.Kind = Number
	case text:
		e.Kind = Text
	case variable:
		e.Kind = Variable
	case parameter:
		e.Kind = Parameter
	case mapName:
		p.advance()
		return p.mapValue(e)
	case word:
		p.advance()
		return p.named(e)
	default:
		switch {
		case p.accept("("):
			return p.brackets(e)
		case p.accept("{"):
			return p.blockOf(t.Span)
		}
		p.unexpected("an expression")
	}
	p.advance()
	return e
}

// blockOf reads what follows an opening brace: statements, and a value if the last one has no ";".
func (p *parser) blockOf(begin Span) *Expr {
	e := &Expr{Kind: BlockOf, Body: p.statements()}
	if n := len(e.Body); n > 0 && e.Body[n-1].Kind == Evaluate && !e.Body[n-1].ended {
		e.Args, e.Body = []*Expr{e.Body[n-1].Value}, e.Body[:n-1]
	}
	if n := len(e.Body); n > 0 && e.Args == nil {
		if v := e.Body[n-1].asValue(); v != nil {
			e.Args, e.Body = []*Expr{v}, e.Body[:n-1]
		}
	}
	e.Span = begin.to(p.expect("}"))
	return e
}

// asValue makes the last statement of a block its value, if it is an if with an else, and both have one.
func (s *Stmt) asValue() *Expr {
	if s.Kind == Evaluate {
		return s.Value
	}
	if s.Kind != If || len(s.Else) == 0 {
		return nil
	}
	branch := func(all []*Stmt) *Expr {
		last := all[len(all)-1]
		v := last.asValue()
		if v == nil || last.ended {
			return nil
		}
		return &Expr{Span: last.Span, Kind: BlockOf, Body: all[:len(all)-1], Args: []*Expr{v}}
	}
	if len(s.Body) == 0 {
		return nil
	}
	yes, no := branch(s.Body), branch(s.Else)
	if yes == nil || no == nil {
		return nil
	}
	return &Expr{Span: s.Span, Kind: Choice, Args: []*Expr{s.Value, yes, no}}
}

// choice reads "if cond { … } else { … }" as an expression.
func (p *parser) choice(begin Span) *Expr {
	defer p.nest()()
	cond := p.expr()
	yes := p.blockOf(p.expect("{"))
	p.expect("else")
	var no *Expr
	if p.accept("if") {
		no = p.choice(p.prev)
	} else {
		no = p.blockOf(p.expect("{"))
	}
	return &Expr{Span: begin.to(p.prev), Kind: Choice, Args: []*Expr{cond, yes, no}}
}

func (p *parser) mapValue(e *Expr) *Expr {
	e.Kind = MapValue
	if p.accept("[") {
		e.Args = p.list("]")
	}
	e.Span = e.Span.to(p.prev)
	if len(e.Args) == 1 && e.Args[0].Kind == Tuple {
		e.Args = e.Args[0].Args
	}
	return e
}

// list reads expressions with commas between them, and what ends them.
func (p *parser) list(end string) (all []*Expr) {
	for !p.tok.is(end) {
		all = append(all, p.expr())
		if !p.accept(",") && !p.tok.is(end) {
			p.unexpected("\",\" or \"" + end + "\"")
		}
	}
	p.expect(end)
	return all
}

// brackets reads what follows an opening one: an expression, or a tuple.
func (p *parser) brackets(begin *Expr) *Expr {
	if p.tok.kind == word && p.follows("=") && !p.follows("==") {
		return p.record(begin)
	}
	e := p.expr()
	if !p.tok.is(",") {
		p.expect(")")
		return e
	}
	p.advance()
	t := &Expr{Kind: Tuple, Args: append([]*Expr{e}, p.list(")")...)}
	t.Span = begin.Span.to(p.prev)
	return t
}

// record reads "a = 1, b = 2)".
func (p *parser) record(begin *Expr) *Expr {
	t := &Expr{Kind: Tuple}
	for !p.tok.is(")") {
		t.Names = append(t.Names, p.word("the name of a field").text)
		p.expect("=")
		t.Args = append(t.Args, p.expr())
		if !p.accept(",") && !p.tok.is(")") {
			p.unexpected("\",\" or \")\"")
		}
	}
	t.Span = begin.Span.to(p.expect(")"))
	return t
}

// named reads what begins with a name: a call, sizeof, or a builtin.
func (p *parser) named(e *Expr) *Expr {
	switch e.Name {
	case "true", "false":
		e.Kind, e.Op = Number, "bool"
		if e.Name == "true" {
			e.Value = 1
		}
		return e
	case "sizeof", "offsetof":
		return p.sizeOf(e)
	case "typeof":
		return p.typeOf(e)
	case "if":
		return p.choice(e.Span)
	}
	e.Name = strings.TrimPrefix(e.Name, "__builtin_")
	if !p.accept("(") {
		e.Kind = Builtin
		return e
	}
	e.Kind, e.Args = Call, p.list(")")
	e.Span = e.Span.to(p.prev)
	return e
}
