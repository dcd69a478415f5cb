package lang

import "slices"

func alignOf(t Type) int {
	switch t.Kind {
	case ArrayOf:
		return alignOf(*t.Elem)
	case String:
		return 1
	case StructOf:
		if t.To.align > 0 {
			return t.To.align
		}
		align := 1
		for _, f := range t.To.All() {
			align = max(align, alignOf(f.Type))
		}
		return align
	}
	return min(8, max(1, t.Bytes))
}

// declared is a structure of the script; nil: there is none of that name.
func (s *Script) declared(name string) *Struct {
	for _, t := range s.Structs {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// structOf is a structure of the script, or one that is known without it.
func (s *Script) structOf(name string) *Struct {
	if t := s.declared(name); t != nil || s.known == nil {
		return t
	}
	return s.known(name)
}

// typeOf is the type that a name stands for.
func (s *Script) typeOf(n *TypeName) Type {
	if n.Of != nil {
		s.Source.fail(n.Span, "typeof is not supported here")
	}
	t, basic := basicTypes[n.Name]
	switch {
	case s.enumOf(n.Name) != nil && !basic:
		t = integer(4, false)
		t.Enum = s.enumOf(n.Name)
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
	return n.wrap(s, t)
}

// wrap is a type with the stars and brackets of a name.
func (n *TypeName) wrap(s *Script, t Type) Type {
	for range n.Stars {
		t = pointerTo(t)
	}
	if t.Kind == Void && n.IsArray {
		s.Source.fail(n.Span, "there are no arrays of void")
	}
	if n.IsArray {
		elem := t
		for _, inner := range slices.Backward(n.Inner) {
			of := elem
			elem = n.array(s, of, inner)
		}
		t = n.array(s, elem, n.Len)
		if elem.Kind == Int && elem.Bytes == 1 && elem.Signed {
			t = Type{Kind: String, Bytes: max(0, n.Len)} // char name[16]
		}
	}
	return t
}

// maxArray is how many bytes an array may have.
const maxArray = 1 << 24

func (n *TypeName) array(s *Script, of Type, length int) Type {
	t := Type{Kind: ArrayOf, Elem: &of, Bytes: of.Bytes * max(0, length)}
	if t.Bytes > maxArray {
		s.Source.fail(n.Span, "an array has at most %d bytes", maxArray)
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
