package btf

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// Builder makes a section. Equal types get one id, equal strings are written once.
//
// Its methods must not be called at the same time.
type Builder struct {
	forms   []byte // of all types, as they are written, in the order in which they were defined
	types   []form // by id - 1
	strings []byte
	// What has been written, by its hash: ids, and offsets of strings other than "". Without pointers, since the
	// kernel has 49,000 types and strings. Of two with the same hash, the second is found, and the first written again.
	ids, offsets map[uint64]uint32
	seed         maphash.Seed
	err          error // the first one; Bytes returns it
}

// form is where a type is in forms. Both are 0 if it is declared, but not defined.
type form struct{ begin, end uint32 }

// NewBuilder returns a Builder without types.
func NewBuilder() *Builder {
	return &Builder{strings: []byte{0}, ids: map[uint64]uint32{}, offsets: map[uint64]uint32{}, seed: maphash.MakeSeed()}
}

// Add returns the id of a type, which is a new one unless an equal type has been added.
func (b *Builder) Add(x Type) ID {
	f := b.encode(&x)
	if id := b.known(f, ID(len(b.types)+1)); int(id) <= len(b.types) {
		b.forms = b.forms[:f.begin]
		return id
	}
	b.types = append(b.types, f)
	return ID(len(b.types))
}

// known returns the id of the type that is written as f, which is id if there was none.
func (b *Builder) known(f form, id ID) ID {
	written := b.forms[f.begin:f.end]
	hash := maphash.Bytes(b.seed, written)
	if same, ok := b.ids[hash]; ok {
		if other := b.types[same-1]; string(b.forms[other.begin:other.end]) == string(written) {
			return ID(same)
		}
	}
	b.ids[hash] = uint32(id)
	return id
}

// Declare returns an id for a type that is defined later, so that others can refer to it before.
func (b *Builder) Declare() ID {
	b.types = append(b.types, form{})
	return ID(len(b.types))
}

// Define says what a type is that has been declared.
func (b *Builder) Define(id ID, x Type) {
	if id == 0 || int64(id) > int64(len(b.types)) || b.types[id-1] != (form{}) {
		b.refuse("BTF: type %d (%s %s) cannot be defined: expected an id that is declared and not defined", id, x.Kind, x.Name)
		return
	}
	f := b.encode(&x)
	b.types[id-1] = f
	b.known(f, id)
}

// Bytes returns the section.
//
// Errors: EINVAL for a type that is declared but not defined, for what has no place in the format, and for a
// string with a zero byte. Whether types fit together, Read says.
func (b *Builder) Bytes() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	size := uint32(len(b.forms))
	data := binary.LittleEndian.AppendUint16(make([]byte, 0, headerSize+len(b.forms)+len(b.strings)), magic)
	data = append(data, version, 0)
	data = words(data, headerSize, 0, size, size, uint32(len(b.strings)))
	for i, f := range b.types {
		if f == (form{}) {
			return nil, refusal.New(syscall.EINVAL, "BTF: type %d is declared, but not defined", i+1)
		}
		data = append(data, b.forms[f.begin:f.end]...)
	}
	return append(data, b.strings...), nil
}

// refuse keeps the first error.
func (b *Builder) refuse(format string, args ...any) {
	if b.err == nil {
		b.err = refusal.New(syscall.EINVAL, format, args...)
	}
}

// intern returns the offset of a string.
func (b *Builder) intern(s string) uint32 {
	if s == "" {
		return 0
	}
	hash := maphash.String(b.seed, s)
	if offset, ok := b.offsets[hash]; ok {
		if rest := b.strings[offset:]; len(s) < len(rest) && rest[len(s)] == 0 && string(rest[:len(s)]) == s {
			return offset
		}
	}
	if strings.IndexByte(s, 0) >= 0 {
		b.refuse("BTF: the name %q has a zero byte, which ends a string", s)
	}
	offset := uint32(len(b.strings))
	b.offsets[hash] = offset
	b.strings = append(append(b.strings, s...), 0)
	return offset
}

func words(data []byte, all ...uint32) []byte {
	for _, w := range all {
		data = append(data, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return data
}

// encode writes a type after the others.
func (b *Builder) encode(x *Type) (f form) {
	f.begin = uint32(len(b.forms))
	f.end = f.begin
	if x.Kind == Void || x.Kind >= numKinds {
		b.refuse("BTF: a type %q of %s cannot be written: expected a kind from 1 to %d", x.Name, x.Kind, numKinds-1)
		return f
	}
	entries, flag := len(x.Members)+len(x.Values)+len(x.Params)+len(x.Variables), x.Flag
	if x.Kind == Func {
		entries = int(x.Linkage)
	}
	if entries > maxEntries {
		b.refuse("BTF: %s %s has %d entries: at most %d are possible", x.Kind, x.Name, entries, maxEntries)
	}
	for i := range x.Members {
		flag = flag || x.Members[i].Bits != 0
	}
	info := uint32(x.Kind)<<infoKind | uint32(entries)&maxEntries
	if flag {
		info |= infoFlag
	}
	third := uint32(x.Of)
	switch form := &shapes[x.Kind]; {
	case form.sized:
		third = x.Size
	case form.empty:
		third = 0
	}
	b.forms = b.entries(b.details(words(b.forms, b.intern(x.Name), info, third), x), x, flag)
	f.end = uint32(len(b.forms))
	return f
}

// details appends the words that a type has once.
func (b *Builder) details(data []byte, x *Type) []byte {
	switch x.Kind {
	case Int:
		return words(data, uint32(x.Encoding)<<24|uint32(x.Shift)<<16|uint32(x.Bits))
	case Array:
		return words(data, uint32(x.Of), uint32(x.Index), x.Count)
	case Var:
		return words(data, uint32(x.Linkage))
	case DeclTag:
		return words(data, uint32(x.Component))
	}
	return data
}

// entries appends the words of members, values, parameters and variables.
func (b *Builder) entries(data []byte, x *Type, flag bool) []byte {
	for i := range x.Members {
		m := &x.Members[i]
		offset := m.Offset
		if flag {
			if offset > 1<<24-1 {
				b.refuse("BTF: %s %s: member %d (%s) is at bit %d: at most %d is possible beside bit-fields", x.Kind, x.Name, i, m.Name, offset, 1<<24-1)
			}
			offset |= uint32(m.Bits) << 24
		}
		data = words(data, b.intern(m.Name), uint32(m.Type), offset)
	}
	for _, v := range x.Values {
		data = b.value(data, x, v)
	}
	for _, p := range x.Params {
		data = words(data, b.intern(p.Name), uint32(p.Type))
	}
	for _, v := range x.Variables {
		data = words(data, uint32(v.Var), v.Offset, v.Size)
	}
	return data
}

func (b *Builder) value(data []byte, x *Type, v Value) []byte {
	if x.Kind == Enum64 {
		return words(data, b.intern(v.Name), uint32(v.Number), uint32(v.Number>>32))
	}
	fits := v.Number <= math.MaxUint32
	if x.Flag {
		fits = int64(v.Number) == int64(int32(v.Number))
	}
	if !fits {
		b.refuse("BTF: ENUM %s: %s does not fit into 32 bits: an ENUM64 is needed", x.Name, x.value(&v))
	}
	return words(data, b.intern(v.Name), uint32(v.Number))
}
