package lang

// statements reads up to a closing brace.
func (p *parser) statements() (all []*Stmt) {
	defer p.nest()()
	for !p.tok.is("}") {
		if p.tok.kind == endOfText {
			p.unexpected("\"}\"")
		}
		if p.accept(";") {
			continue
		}
		all = append(all, p.statement())
	}
	return all
}

func (p *parser) block() []*Stmt {
	p.expect("{")
	all := p.statements()
	p.expect("}")
	return all
}

func (p *parser) statement() *Stmt {
	begin := p.tok
	s := &Stmt{Span: begin.Span}
	switch {
	case p.accept("{"):
		s.Kind, s.Body = Block, p.statements()
		p.expect("}")
	case p.accept("if"):
		p.ifElse(s)
	case p.accept("while"):
		p.repeated(s, While)
	case p.accept("unroll"):
		p.repeated(s, Unroll)
	case p.accept("for"):
		p.loop(s)
	case p.accept("break"):
		s.Kind = Break
	case p.accept("continue"):
		s.Kind = Continue
	case p.accept("return"):
		s.Kind = Return
		if !p.tok.is(";") && !p.tok.is("}") {
			s.Value = p.expr()
		}
	case p.accept("let"):
		p.declaration(s)
	default:
		p.assignment(s)
	}
	if s.Body == nil && !p.tok.is("}") && s.Kind != If && s.Kind != While && s.Kind != Block && s.Kind != For && s.Kind != Unroll {
		p.expect(";")
		s.ended = true
	}
	return s
}

// repeated reads "(EXPRESSION) { … }".
func (p *parser) repeated(s *Stmt, kind StmtKind) {
	p.expect("(")
	s.Kind, s.Value = kind, p.expr()
	p.expect(")")
	s.Body = p.block()
}

func (p *parser) ifElse(s *Stmt) {
	defer p.nest()()
	s.Kind, s.Value = If, p.expr()
	s.Body = p.block()
	if p.accept("else") {
		if p.tok.is("if") {
			other := &Stmt{Span: p.tok.Span}
			p.advance()
			p.ifElse(other)
			s.Else = []*Stmt{other}
			return
		}
		s.Else = p.block()
	}
}

// loop reads "$i : 0..10 { … }" and "($kv : @map) { … }".
func (p *parser) loop(s *Stmt) {
	s.Kind = For
	bracket := p.accept("(")
	if p.tok.kind != variable {
		p.unexpected("a variable")
	}
	s.Target = p.primary()
	p.expect(":")
	s.Value = p.expr()
	switch {
	case p.accept(".."):
		s.Limit = p.expr()
	case s.Value.Kind == MapValue && len(s.Value.Args) == 0:
	default:
		p.unexpected("\"..\" and the end of the range: a loop is over a range or a map")
	}
	if bracket {
		p.expect(")")
	}
	s.Body = p.block()
}

// declaration reads what follows let.
func (p *parser) declaration(s *Stmt) {
	s.Kind = Declare
	if p.tok.kind != variable {
		p.unexpected("a variable")
	}
	s.Target = p.primary()
	if p.accept(":") {
		s.Type = p.typeName()
	}
	if p.accept("=") {
		s.Value = p.expr()
	}
	s.Span = s.Span.to(p.prev)
}

// assignments are the operators that store.
var assignments = map[string]bool{"=": true, "+=": true, "-=": true, "*=": true, "/=": true, "%=": true, "&=": true, "|=": true, "^=": true, "<<=": true, ">>=": true}

func (p *parser) assignment(s *Stmt) {
	e := p.expr()
	if p.tok.kind == sign && assignments[p.tok.text] {
		if e.Kind == Builtin && e.Name == "_" && p.accept("=") {
			s.Kind, s.Value = Evaluate, p.expr()
			s.Span = s.Span.to(p.prev)
			return
		}
		if e.Kind != Variable && e.Kind != MapValue {
			p.fail(e.Span, "only a variable or a map can be assigned to")
		}
		s.Kind, s.Target, s.Op = Assign, e, p.tok.text
		p.advance()
		s.Value = p.expr()
	} else {
		s.Kind, s.Value = Evaluate, e
	}
	s.Span = s.Span.to(p.prev)
}
