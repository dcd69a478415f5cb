package lang

// castTo reads "(type)", or nothing if it is an expression in brackets.
func (p *parser) castTo() *TypeName {
	before, tok, prev := p.scanner, p.tok, p.prev
	p.advance()
	if p.beginsType() {
		to := p.typeName()
		p.expect(")")
		return to
	}
	// The name of a structure without "struct", if it can be nothing else: "(name *)x".
	if to := (&TypeName{Span: p.tok.Span, Name: p.tok.text, Len: -1}); p.tok.kind == word {
		for p.advance(); p.accept("*"); to.Stars++ {
		}
		if to.Stars > 0 && p.accept(")") && (p.tok.kind != sign || p.tok.is("(") || p.tok.is("-") || p.tok.is("&")) && p.tok.kind != endOfText {
			return to
		}
	}
	p.scanner, p.tok, p.prev = before, tok, prev
	return nil
}

// beginsType tells whether what comes next can only be a type.
func (p *parser) beginsType() bool {
	switch t := p.tok; {
	case t.kind != word:
		return false
	case t.text == "typeof":
		return p.follows("(")
	default:
		return isTypeName(t.text) || t.text == "struct" || t.text == "union" || t.text == "enum" || t.text == "const"
	}
}

// typeName reads int32, struct name *, string[64], uint8[4], typeof(x).
func (p *parser) typeName() *TypeName {
	t := &TypeName{Span: p.tok.Span, Len: -1}
	for p.accept("const") || p.accept("volatile") {
	}
	if p.tok.is("typeof") && p.follows("(") {
		p.advance()
		t.Of = p.typeOf(&Expr{Span: p.prev})
		return p.suffixes(t)
	}
	if p.accept("struct") || p.accept("union") || p.accept("enum") {
		t.Struct = true
	}
	t.Name = p.word("a type").text
	for p.tok.kind == word && isTypeName(t.Name+" "+p.tok.text) {
		t.Name += " " + p.word("a type").text
	}
	return p.suffixes(t)
}

// suffixes reads the stars and brackets of a type.
func (p *parser) suffixes(t *TypeName) *TypeName {
	for p.accept("const") || p.accept("volatile") {
	}
	for p.accept("*") {
		t.Stars++
	}
	p.dimensions(t)
	t.Span = t.Span.to(p.prev)
	return t
}

// dimensions reads the brackets of an array, or of an array of arrays.
func (p *parser) dimensions(t *TypeName) {
	for p.accept("[") {
		n := -1
		if p.tok.kind == number {
			n = int(min(p.tok.value, 1<<20))
			p.advance()
		}
		switch p.expect("]"); {
		case !t.IsArray:
			t.IsArray, t.Len = true, n
		case n < 1 || len(t.Inner) == 4:
			p.fail(p.prev, "an array of arrays needs to know how long these are, and has 5 dimensions at most")
		default:
			t.Inner = append(t.Inner, n)
		}
	}
}

func (p *parser) sizeOf(e *Expr) *Expr {
	p.expect("(")
	if e.Kind = SizeOf; e.Name == "offsetof" {
		e.Kind = OffsetOf
		e.To = p.typeName()
		p.expect(",")
		e.Name = p.word("the name of a field").text
		for p.accept(".") {
			e.Name += "." + p.word("the name of a field").text
		}
	} else {
		p.typeOrValue(e)
	}
	e.Span = e.Span.to(p.expect(")"))
	return e
}

// typeOf reads "(type)" or "(expression)" after typeof.
func (p *parser) typeOf(e *Expr) *Expr {
	p.expect("(")
	e.Kind = TypeOf
	p.typeOrValue(e)
	e.Span = e.Span.to(p.expect(")"))
	return e
}

// typeOrValue reads a type, which may be the name of a macro's argument with stars, or an expression.
func (p *parser) typeOrValue(e *Expr) {
	if p.beginsType() {
		e.To = p.typeName()
		return
	}
	before, tok, prev := p.scanner, p.tok, p.prev
	if tok.kind == word && (p.follows("*") || p.follows("[")) {
		t := &TypeName{Span: tok.Span, Name: tok.text, Len: -1}
		p.advance()
		for p.accept("*") {
			t.Stars++
		}
		if p.accept("[") && p.tok.kind == number {
			t.IsArray, t.Len = true, int(min(p.tok.value, 1<<20))
			p.advance()
			p.accept("]")
		}
		if p.tok.is(")") {
			e.To = t
			return
		}
		p.scanner, p.tok, p.prev = before, tok, prev
	}
	e.Args = []*Expr{p.expr()}
}
