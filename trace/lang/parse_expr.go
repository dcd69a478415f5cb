package lang

// levels are the binary operators, what binds loosest first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) expr() *Expr {
	defer p.nest()()
	e := p.binary(0)
	if !p.accept("?") {
		return e
	}
	yes := p.expr()
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

// castTo reads "(type)", or nothing if it is an expression in brackets.
func (p *parser) castTo() *TypeName {
	before, tok, prev := p.scanner, p.tok, p.prev
	p.advance()
	if p.tok.kind == word && (p.tok.text == "struct" || isTypeName(p.tok.text)) {
		to := p.typeName()
		p.expect(")")
		return to
	}
	// The name of a structure without "struct", if it can be nothing else: "(name *)x".
	if to := (&TypeName{Span: p.tok.Span, Name: p.tok.text, Len: -1}); p.tok.kind == word {
		for p.advance(); p.accept("*"); to.Stars++ {
		}
		if to.Stars > 0 && p.accept(")") && (p.tok.kind != sign || p.tok.is("(")) && p.tok.kind != endOfText {
			return to
		}
	}
	p.scanner, p.tok, p.prev = before, tok, prev
	return nil
}

// typeName reads int32, struct name *, string[64], uint8[4].
func (p *parser) typeName() *TypeName {
	t := &TypeName{Span: p.tok.Span, Len: -1}
	if p.accept("struct") || p.accept("union") || p.accept("enum") {
		t.Struct = true
	}
	t.Name = p.word("a type").text
	for p.tok.kind == word && isTypeName(t.Name+" "+p.tok.text) {
		t.Name += " " + p.word("a type").text
	}
	for p.accept("*") {
		t.Stars++
	}
	if p.accept("[") {
		t.IsArray = true
		if p.tok.kind == number {
			t.Len = int(min(p.tok.value, 1<<20))
			p.advance()
		}
		p.expect("]")
	}
	t.Span = t.Span.to(p.prev)
	return t
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
		if !p.accept("(") {
			p.unexpected("an expression")
		}
		return p.brackets(e)
	}
	p.advance()
	return e
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

// named reads what begins with a name: a call, sizeof, or a builtin.
func (p *parser) named(e *Expr) *Expr {
	switch e.Name {
	case "true", "false":
		e.Kind = Number
		if e.Name == "true" {
			e.Value = 1
		}
		return e
	case "sizeof", "offsetof":
		return p.sizeOf(e)
	}
	if !p.accept("(") {
		e.Kind = Builtin
		return e
	}
	e.Kind, e.Args = Call, p.list(")")
	e.Span = e.Span.to(p.prev)
	return e
}

func (p *parser) sizeOf(e *Expr) *Expr {
	p.expect("(")
	if e.Kind = SizeOf; e.Name == "offsetof" {
		e.Kind = OffsetOf
		e.To = p.typeName()
		p.expect(",")
		e.Name = p.word("the name of a field").text
	} else if p.tok.kind == word && (p.tok.text == "struct" || isTypeName(p.tok.text)) {
		e.To = p.typeName()
	} else {
		e.Args = []*Expr{p.expr()}
	}
	p.expect(")")
	e.Span = e.Span.to(p.prev)
	return e
}
