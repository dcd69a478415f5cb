package ctypes

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"

	"sonde/trace/lang"
)

var void = lang.Type{Kind: lang.Void}

// Named returns the struct, the union or the enum of that name, or what a typedef of that name stands for.
//
// Errors: there is none.
func (f *File) Named(name string) (lang.Type, error) {
	at, ok := f.types[name]
	if !ok {
		at, ok = f.typedefs[name]
	}
	if !ok {
		return void, f.none("type %s", name)
	}
	return f.typeAt(at, 0), nil
}

// of is the type that an entry says it is of.
func (f *File) of(e *dwarf.Entry, depth int) lang.Type {
	at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return void
	}
	return f.typeAt(at, depth)
}

// typeAt is a type as the language has it. What the language has not, such as numbers with a fraction, is
// void, with its size.
func (f *File) typeAt(at dwarf.Offset, depth int) lang.Type {
	e := f.entry(at)
	if e == nil || depth > maxDepth {
		return void
	}
	switch e.Tag {
	case dwarf.TagBaseType:
		return base(e)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		to := f.of(e, depth+1)
		if to.Kind == lang.StructOf {
			return lang.Type{Kind: lang.Pointer, Bytes: 8, To: to.To}
		}
		return lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &to}
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		to := f.structure(e)
		return lang.Type{Kind: lang.StructOf, Bytes: to.Bytes, To: to}
	case dwarf.TagEnumerationType:
		return f.enum(e, depth)
	case dwarf.TagArrayType:
		return f.array(e, depth)
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
		return f.of(e, depth+1)
	}
	return void
}

// Encodings of numbers.
//
// Source: DWARF 5, §7.8, table 7.11.
const (
	encBoolean    = 2
	encSigned     = 5
	encSignedChar = 6
	encUnsigned   = 7
	encByte       = 8
	encUTF        = 16
)

func base(e *dwarf.Entry) lang.Type {
	n := size(e)
	encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
	switch encoding {
	case encBoolean:
		return lang.Type{Kind: lang.Bool, Bytes: 1}
	case encSigned, encSignedChar, encUnsigned, encByte, encUTF:
		signed := encoding == encSigned || encoding == encSignedChar
		switch n {
		case 1, 2, 4, 8:
			return lang.Type{Kind: lang.Int, Bytes: n, Signed: signed}
		case 16:
			return lang.Type{Kind: lang.ArrayOf, Bytes: n, Elem: &lang.Type{Kind: lang.Int, Bytes: 8}}
		}
	}
	return lang.Type{Kind: lang.Void, Bytes: n}
}

func (f *File) enum(e *dwarf.Entry, depth int) lang.Type {
	t := f.of(e, depth+1)
	if t.Kind != lang.Int {
		t = lang.Type{Kind: lang.Int, Bytes: 4}
	}
	t.Enum = &lang.Enum{Name: text(e, dwarf.AttrName), Names: map[int64]string{}}
	f.children(e.Offset, func(c *dwarf.Entry) {
		if n, ok := c.Val(dwarf.AttrConstValue).(int64); ok && c.Tag == dwarf.TagEnumerator && t.Enum.Names[n] == "" {
			t.Enum.Names[n] = text(c, dwarf.AttrName)
		}
	})
	return t
}

// array is an array, also of arrays. One of char is a string.
func (f *File) array(e *dwarf.Entry, depth int) lang.Type {
	t := f.of(e, depth+1)
	var all []int
	f.children(e.Offset, func(c *dwarf.Entry) {
		if c.Tag == dwarf.TagSubrangeType {
			all = append(all, length(c))
		}
	})
	if len(all) > maxDepth {
		return void
	}
	if n := len(all); n == 1 && t.Kind == lang.Int && t.Bytes == 1 && t.Signed && all[0] > 0 && all[0] <= 4096 {
		return lang.Type{Kind: lang.String, Bytes: all[0]}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] > 0 && t.Bytes > maxBytes/all[i] {
			return void
		}
		elem := t
		t = lang.Type{Kind: lang.ArrayOf, Bytes: elem.Bytes * all[i], Elem: &elem}
	}
	return t
}

// length is how many elements there are; 0: as many as there is room for.
func length(c *dwarf.Entry) int {
	n, ok := c.Val(dwarf.AttrCount).(int64)
	if !ok {
		n, ok = c.Val(dwarf.AttrUpperBound).(int64)
		n++
	}
	if !ok || n < 0 || n > maxBytes {
		return 0
	}
	return int(n)
}

// structure is a struct, a class or a union, whose fields are looked at when a script asks for one. One that
// is only declared here is defined in another unit.
func (f *File) structure(e *dwarf.Entry) *lang.Struct {
	name := text(e, dwarf.AttrName)
	if at, ok := f.types[name]; ok && flag(e, dwarf.AttrDeclaration) {
		if whole := f.entry(at); whole != nil {
			e = whole
		}
	}
	if s := f.structs[e.Offset]; s != nil {
		return s
	}
	s := &lang.Struct{Name: name, Bytes: size(e)}
	if name == "" {
		s.Name = fmt.Sprintf("(anonymous at %#x)", e.Offset)
	}
	f.structs[e.Offset] = s
	s.Fill = func() { f.fill(s, e) }
	return s
}

// fill reads the fields of a structure, and of those inside it. One that would be in itself is left out, and
// what is more than anybody writes.
func (f *File) fill(s *lang.Struct, e *dwarf.Entry) {
	f.filling++
	f.weights[s] = maxParts // while its fields are being read, it fits nowhere
	weight := 0
	f.children(e.Offset, func(c *dwarf.Entry) {
		m, ok := f.member(c, e.Tag == dwarf.TagUnionType)
		if ok {
			weight += f.weigh(m.Type)
		}
		if ok && weight < maxParts {
			s.Fields = append(s.Fields, m)
		}
	})
	f.filling--
	f.weights[s] = weight
}

// weigh is how many fields a type brings.
func (f *File) weigh(t lang.Type) int {
	for t.Kind == lang.ArrayOf {
		t = *t.Elem
	}
	if t.Kind != lang.StructOf {
		return 1
	}
	if f.filling < maxDepth {
		t.To.All()
	}
	weight, known := f.weights[t.To]
	if !known {
		return maxParts
	}
	return 1 + weight
}

// member is a field. A base class is one without a name.
func (f *File) member(c *dwarf.Entry, union bool) (m lang.StructField, ok bool) {
	if c.Tag != dwarf.TagMember && c.Tag != dwarf.TagInheritance || flag(c, dwarf.AttrExternal) {
		return m, false
	}
	m = lang.StructField{Name: text(c, dwarf.AttrName), Type: f.of(c, 0)}
	at, placed := memberAt(c.Val(dwarf.AttrDataMemberLoc))
	bits, isBits := c.Val(dwarf.AttrBitSize).(int64)
	if !isBits {
		m.Offset = int(at)
		return m, (placed || union) && at >= 0 && at < maxBytes
	}
	from, ok := c.Val(dwarf.AttrDataBitOffset).(int64)
	if old, has := c.Val(dwarf.AttrBitOffset).(int64); !ok && has { // DWARF 3: from the high end of a word
		from, ok = 8*at+8*int64(m.Type.Bytes)-old-bits, true
	}
	word := int64(8 * m.Type.Bytes)
	if !ok && !union || from < 0 || from >= 8*maxBytes || bits < 1 || bits > word {
		return m, false
	}
	m.Offset, m.Shift, m.Bits = int(from/word*word/8), int(from%word), int(bits)
	if m.Shift+m.Bits > int(word) { // packed: it continues in the next word
		m.Offset, m.Shift = int(from/8), int(from%8)
		m.Type.Bytes = 8
	}
	return m, m.Shift+m.Bits <= 64
}

// memberAt is where a member begins. Before DWARF 3 that is an expression, which adds a number to the address.
func memberAt(where any) (at int64, ok bool) {
	const plusConst = 0x23 // DW_OP_plus_uconst
	expr, isExpr := where.([]byte)
	if !isExpr {
		at, ok = where.(int64)
		return at, ok
	}
	if len(expr) < 2 || expr[0] != plusConst {
		return 0, false
	}
	n, size := binary.Uvarint(expr[1:]) // which is what LEB128 is
	return int64(n), size == len(expr)-1 && n < maxBytes
}
