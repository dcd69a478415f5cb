package lang

import (
	"slices"
)

// structure reads the declaration of a struct, a union or an enum.
func (p *parser) structure(s *Script) {
	if p.tok.is("enum") {
		p.enum(s)
	} else {
		p.structBody(s, p.tok.text == "union")
	}
	p.at = p.tok.From
	for rest := p.scanner; rest.next().is(";"); rest = p.scanner {
		p.at = rest.at
	}
}

// structBody reads "struct name { … } attributes"; the token after it comes next.
func (p *parser) structBody(s *Script, union bool) *Struct {
	defer p.nest()()
	p.advance()
	t := &Struct{}
	if p.tok.kind == word {
		name := p.word("a name")
		if s.declared(name.text) != nil {
			p.fail(name.Span, "struct %s is declared a second time", name.text)
		}
		t.Name = name.text
	}
	p.expect("{")
	var all []StructField
	for !p.tok.is("}") {
		for _, f := range p.fields(s) {
			if slices.ContainsFunc(all, func(o StructField) bool { return o.Name == f.Name && f.Name != "" }) {
				p.fail(p.prev, "two fields are called %s", f.Name)
			}
			all = append(all, f)
		}
	}
	p.expect("}")
	t.layOut(all, union, p.packed())
	if t.Bytes > 1<<16 {
		p.fail(p.prev, "struct %s has more than %d bytes", t.Name, 1<<16)
	}
	if t.Name != "" {
		s.Structs = append(s.Structs, t)
	}
	return t
}

// packed reads __attribute__((packed)) and the like.
func (p *parser) packed() (packed bool) {
	for p.accept("__attribute__") {
		p.expect("(")
		for depth := 1; depth > 0; p.advance() {
			switch {
			case p.tok.is("("):
				depth++
			case p.tok.is(")"):
				depth--
			case p.tok.is("packed"):
				packed = true
			case p.tok.kind == endOfText:
				p.unexpected("\")\"")
			}
		}
	}
	return packed
}

// layOut places the fields.
func (t *Struct) layOut(all []StructField, union, packed bool) {
	align, bits := 1, 0 // bits: taken so far
	for _, f := range all {
		each := pick(packed, 1, alignOf(f.Type))
		align = max(align, each)
		size := f.Type.Bytes
		switch {
		case union:
			t.Bytes = max(t.Bytes, size)
		case f.Bits > 0: // it is in one number of its type, which others may share
			if unit := 8 * size; bits%unit+f.Bits > unit {
				bits += unit - bits%unit
			}
			f.Offset, f.Shift = bits/8/size*size, bits%(8*size)
			bits += f.Bits
			t.Bytes = (bits + 7) / 8
		default:
			f.Offset = (t.Bytes + each - 1) / each * each
			t.Bytes = f.Offset + size
			bits = 8 * t.Bytes
		}
		t.Fields = append(t.Fields, f)
	}
	t.Bytes, t.align = (t.Bytes+align-1)/align*align, align
}

// fields reads "type a, *b[4], c:3;".
func (p *parser) fields(s *Script) (all []StructField) {
	var inner *Struct
	var base *TypeName
	if (p.tok.is("struct") || p.tok.is("union")) && (p.follows("{") || p.namesBody()) {
		inner = p.structBody(s, p.tok.is("union"))
	} else {
		base = p.typeName()
	}
	if inner != nil && p.accept(";") { // without a name: its fields are those of the outer one
		return []StructField{{Type: Type{Kind: StructOf, To: inner, Bytes: inner.Bytes}}}
	}
	for {
		if all = append(all, p.declarator(s, inner, base)); !p.accept(",") {
			break
		}
	}
	if !p.tok.is("}") {
		p.expect(";")
	}
	return all
}

// namesBody tells whether "name {" comes next.
func (p *parser) namesBody() bool {
	rest := p.scanner
	return rest.next().kind == word && rest.next().is("{")
}

// declarator reads "*name[4]" or "name:3".
func (p *parser) declarator(s *Script, inner *Struct, base *TypeName) (f StructField) {
	of := TypeName{Span: p.tok.Span, Len: -1}
	if base != nil {
		of = *base
	}
	for p.accept("*") {
		of.Stars++
	}
	f.Name = p.word("the name of a field").text
	if at := p.tok.Span; p.tok.is("[") {
		if p.dimensions(&of); of.Len < 0 || of.Len > 4096 {
			p.fail(at.to(p.prev), "an array has at most 4096 elements, and says how many")
		}
	}
	if inner != nil {
		f.Type = of.wrap(s, Type{Kind: StructOf, To: inner, Bytes: inner.Bytes})
	} else {
		f.Type = s.typeOf(&of)
	}
	if p.accept(":") {
		if p.tok.kind != number || f.Type.Kind != Int || p.tok.value == 0 || p.tok.value > uint64(8*f.Type.Bytes) {
			p.unexpected("how many bits the number has")
		}
		f.Bits = int(p.tok.value)
		p.advance()
	}
	return f
}
