package lang

import "slices"

// structure reads the declaration of a struct, a union or an enum.
func (p *parser) structure(s *Script) {
	kind := p.tok
	if kind.is("enum") {
		p.fail(kind.Span, "enum is not supported")
	}
	p.advance()
	name := p.word("a name")
	if s.structOf(name.text) != nil {
		p.fail(name.Span, "struct %s is declared a second time", name.text)
	}
	t := &Struct{Name: name.text}
	align := 1
	p.expect("{")
	for !p.tok.is("}") {
		align = max(align, p.fields(s, t, kind.text == "union"))
	}
	t.Bytes = (t.Bytes + align - 1) / align * align
	s.Structs = append(s.Structs, t)
	p.last("}")
	if rest := p.scanner; rest.next().is(";") {
		p.advance()
	}
}

// fields reads "type a, *b[4];", and returns the largest alignment.
func (p *parser) fields(s *Script, t *Struct, union bool) (align int) {
	base := p.typeName()
	for align = 1; ; {
		of := *base
		for p.accept("*") {
			of.Stars++
		}
		name := p.word("the name of a field")
		if p.accept("[") {
			if p.tok.kind != number || p.tok.value > 4096 {
				p.unexpected("how many elements, at most 4096")
			}
			of.IsArray, of.Len = true, int(p.tok.value)
			p.advance()
			p.expect("]")
		}
		if slices.ContainsFunc(t.Fields, func(f StructField) bool { return f.Name == name.text }) {
			p.fail(name.Span, "struct %s has two fields %s", t.Name, name.text)
		}
		f := StructField{Name: name.text, Type: s.typeOf(&of)}
		each := alignOf(f.Type)
		align = max(align, each)
		if !union {
			f.Offset = (t.Bytes + each - 1) / each * each
		}
		t.Bytes = max(t.Bytes, f.Offset+f.Type.Bytes)
		t.Fields = append(t.Fields, f)
		if t.Bytes > 1<<16 {
			p.fail(name.Span, "struct %s has more than %d bytes", t.Name, 1<<16)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	return align
}

func alignOf(t Type) int {
	switch t.Kind {
	case ArrayOf:
		return alignOf(*t.Elem)
	case String:
		return 1
	case StructOf:
		align := 1
		for _, f := range t.To.Fields {
			align = max(align, alignOf(f.Type))
		}
		return align
	}
	return min(8, max(1, t.Bytes))
}

func (s *Script) structOf(name string) *Struct {
	for _, t := range s.Structs {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// typeOf is the type that a name stands for.
func (s *Script) typeOf(n *TypeName) Type {
	t, basic := basicTypes[n.Name]
	switch {
	case n.Name == "string" || n.Name == "buffer":
		t = stringType(max(8, n.Len))
		if n.Stars > 0 || n.Len == 0 || n.Len > 1024 {
			s.Source.fail(n.Span, "a string has 1 to 1024 bytes")
		}
		return t
	case !basic || n.Struct:
		to := s.structOf(n.Name)
		if to == nil && n.Stars == 0 {
			s.Source.failHint(n.Span, didYouMean(n.Name, structNames(s)), "there is no struct %s in the script", n.Name)
		}
		if to == nil {
			to = &Struct{Name: n.Name}
		}
		t = Type{Kind: StructOf, To: to, Bytes: to.Bytes}
	}
	for range n.Stars {
		t = pointerTo(t)
	}
	if t.Kind == Void && n.IsArray {
		s.Source.fail(n.Span, "there are no arrays of void")
	}
	if n.IsArray {
		elem := t
		t = Type{Kind: ArrayOf, Elem: &elem, Bytes: elem.Bytes * max(0, n.Len)}
		if elem.Kind == Int && elem.Bytes == 1 && elem.Signed {
			t = Type{Kind: String, Bytes: max(0, n.Len)} // char name[16]
		}
	}
	return t
}

func pointerTo(t Type) Type {
	if t.Kind == StructOf {
		return Type{Kind: Pointer, Bytes: 8, To: t.To}
	}
	return Type{Kind: Pointer, Bytes: 8, Elem: &t}
}

func structNames(s *Script) (names []string) {
	for _, t := range s.Structs {
		names = append(names, t.Name)
	}
	return names
}
