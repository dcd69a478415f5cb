package btf

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"sonde/kernel/refusal"
)

// The word after the name: bit 31 is the flag, 24 to 28 the kind, 0 to 15 the number of entries.
const (
	infoFlag   = 1 << 31
	infoKind   = 24
	infoUnused = 0x60FF0000
)

// commonSize is how many bytes all types have.
const commonSize = 12

// cursor reads words one after the other. There must be enough of them.
type cursor struct{ rest []byte }

func (c *cursor) word() uint32 {
	w := binary.LittleEndian.Uint32(c.rest)
	c.rest = c.rest[4:]
	return w
}

// decoder reads types. What is wrong with one is kept, and the reading continues to its end.
type decoder struct {
	cursor
	table *Table
	why   string
}

func (d *decoder) fault(format string, args ...any) {
	if d.why == "" {
		d.why = fmt.Sprintf(format, args...)
	}
}

// decodeAll appends the types of a section. What can be told of a type by itself is checked.
func (t *Table) decodeAll(data []byte) error {
	t.types = make([]Type, 1, 1+min(countTypes(data), maxID))
	d := decoder{cursor: cursor{data}, table: t}
	for len(d.rest) > 0 {
		id := ID(len(t.types))
		if id > maxID {
			return refusal.New(syscall.E2BIG, "BTF: there are more than %d types", maxID)
		}
		t.types = append(t.types, d.next())
		if d.why != "" {
			return refusal.New(syscall.EINVAL, "BTF: %s: %s", t.describe(id), d.why)
		}
	}
	return nil
}

// countTypes returns how many types a section has, if it is valid. A million of them take 150 MB,
// so room for them is made once.
func countTypes(data []byte) (n int) {
	for len(data) >= commonSize {
		info := binary.LittleEndian.Uint32(data[4:])
		kind := Kind(info >> infoKind & 31)
		if kind >= numKinds {
			break
		}
		n++
		length := commonSize + shapes[kind].fixed + int(info&maxEntries)*shapes[kind].entry
		data = data[min(length, len(data)):]
	}
	return n
}

// next reads one type.
func (d *decoder) next() Type {
	if len(d.rest) < commonSize {
		d.fault("it has %d bytes: expected at least %d", len(d.rest), commonSize)
		return Type{}
	}
	name, info, third := d.word(), d.word(), d.word()
	x := Type{Kind: Kind(info >> infoKind & 31), Flag: info&infoFlag != 0}
	entries := int(info & maxEntries)
	if x.Kind == Void || x.Kind >= numKinds || info&infoUnused != 0 {
		d.fault("the word behind the name is %#x: expected a kind from 1 to %d, and 0 in the bits of %#x", info, numKinds-1, infoUnused)
		return x
	}
	form := &shapes[x.Kind]
	x.Name = d.name(name, form.names)
	if need := form.fixed + entries*form.entry; need > len(d.rest) {
		d.fault("%d bytes of it are missing: it has %d entries", need-len(d.rest), entries)
		return x
	}
	switch {
	case form.sized:
		x.Size = third
	case form.empty && third != 0:
		d.fault("the third word is %d: expected 0", third)
	default:
		x.Of = ID(third)
	}
	d.checkInfo(&x, form, entries)
	d.details(&x, entries)
	return x
}

// checkInfo refuses a flag or a number of entries that the kind does not use.
func (d *decoder) checkInfo(x *Type, form *shape, entries int) {
	if x.Flag && !form.flag {
		d.fault("the flag is set: expected 0, since the kind has no use for it")
	}
	if entries != 0 && form.entry == 0 && x.Kind != Func {
		d.fault("it has %d entries: expected 0", entries)
	}
	if x.Kind == Func {
		x.Linkage = Linkage(entries)
	}
}

// details reads what follows the first three words.
func (d *decoder) details(x *Type, entries int) {
	switch x.Kind {
	case Int:
		d.number(x, d.word())
	case Array:
		x.Of, x.Index, x.Count = ID(d.word()), ID(d.word()), d.word()
	case Struct, Union:
		x.Members = d.members(entries, x.Flag)
		x.Flag = false
	case Enum, Enum64:
		x.Values = d.values(entries, x)
	case FuncProto:
		for range entries {
			x.Params = append(x.Params, Param{d.name(d.word(), optional), ID(d.word())})
		}
	case Var:
		x.Linkage = Linkage(d.word())
	case Datasec:
		for range entries {
			x.Variables = append(x.Variables, Variable{ID(d.word()), d.word(), d.word()})
		}
	case DeclTag:
		x.Component = int32(d.word())
	}
}

// number takes the word of an Int apart.
func (d *decoder) number(x *Type, w uint32) {
	if w>>28 != 0 || w>>8&0xFF != 0 {
		d.fault("the word of the integer is %#x: expected 0 in the bits of %#x", w, uint32(0xF000FF00))
	}
	x.Encoding, x.Shift, x.Bits = uint8(w>>24&15), uint8(w>>16), uint8(w)
}

// members reads the members of a structure. With the flag, the high byte of an offset is the width
// of a bit-field.
func (d *decoder) members(n int, flag bool) []Member {
	var all []Member
	for range n {
		m := Member{Name: d.name(d.word(), optional), Type: ID(d.word()), Offset: d.word()}
		if flag {
			m.Bits, m.Offset = uint8(m.Offset>>24), m.Offset&0xFFFFFF
		}
		all = append(all, m)
	}
	return all
}

// values reads the constants of an enumeration.
func (d *decoder) values(n int, x *Type) []Value {
	var all []Value
	for range n {
		v := Value{Name: d.name(d.word(), identifier), Number: uint64(d.word())}
		switch {
		case x.Kind == Enum64:
			v.Number |= uint64(d.word()) << 32
		case x.Flag:
			v.Number = uint64(int32(v.Number))
		}
		all = append(all, v)
	}
	return all
}

// name returns the string at an offset, if it is as the rule wants it.
func (d *decoder) name(offset uint32, rule naming) string {
	s, whole, ok := d.table.text(offset, maxName)
	switch {
	case !ok:
		d.fault("a name is at offset %d, but the strings have %d bytes", offset, len(d.table.strings))
	case !whole:
		d.fault("the name at offset %d has more than %d bytes", offset, maxName)
	default:
		if why := rule.fault(s); why != "" {
			d.fault("the name at offset %d is %q: %s", offset, s, why)
		}
	}
	return s
}

// fault returns what is wrong with a name, or "".
func (rule naming) fault(s string) string {
	switch {
	case rule == anonymous && s != "":
		return "expected none, since the kind has no name"
	case rule > optional && s == "":
		return "expected a name"
	case (rule == optional || rule == identifier) && !isIdentifier(s):
		return "expected letters, digits, _ and ., and no digit first"
	case rule == section && !isPrintable(s):
		return "expected only what can be printed"
	}
	return ""
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '.'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
