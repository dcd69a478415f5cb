package gotypes

import (
	"encoding/binary"
	"reflect"
	"strings"
)

// Memory is what the runtime itself knows of types: the image from runtime.types to runtime.etypes.
type Memory struct {
	Base uint64 // the address of the first byte
	Data string
}

// Where things are in a description, and its marks.
//
// Source: Go, internal/abi/type.go, Type, UncommonType, Name and the types of each kind.
const (
	rtSize  = 0
	rtFlags = 20
	rtKind  = 23
	rtName  = 40 // 4 bytes
	rtElem  = 48 // of maps: the key
	rtNext  = 56 // of maps: the element; of structs: the fields, an array of three words each
	rtCount = 64

	flagUncommon = 1 << 0
	flagStar     = 1 << 1 // the name has a star too many
	flagNamed    = 1 << 2
	kindMask     = 1<<5 - 1
)

// behind says where a description has the path of its package.
var behind = [...]int{
	reflect.Array: 72, reflect.Chan: 64, reflect.Func: 56, reflect.Interface: 80, reflect.Map: 112,
	reflect.Pointer: 56, reflect.Slice: 56, reflect.Struct: 80,
}

// describe reads the description at an offset. The types in the result are such offsets, too, and names
// that follow from others are left out.
func (m Memory) describe(off uint32) (x Desc, ok bool) {
	r := memoryReader{Memory: m}
	kind := r.word(off+rtKind, 1) & kindMask
	if int(kind) >= len(sizes) {
		return x, false
	}
	x.Kind, x.Size = reflect.Kind(kind), int(r.word(off+rtSize, 8))
	switch x.Kind {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		x.Elem = r.ref(off + rtElem)
	case reflect.Array:
		x.Elem, x.Len = r.ref(off+rtElem), int(r.word(off+rtCount, 8))
	case reflect.Map:
		x.Key, x.Elem = r.ref(off+rtElem), r.ref(off+rtNext)
	case reflect.Struct:
		x.Fields = r.fields(off)
	}
	x.Name = r.typeName(off, x.Kind)
	return x, !r.failed && 0 <= x.Len && x.Len < maxSize
}

// Held returns the name of the type of what an interface holds, as reflect shows it but without a star, by
// the interface's first word: the type, or a table of methods, whose second word is the type. "": it is
// neither, or made while the program runs.
//
// Source: Go, internal/abi/iface.go, ITab and EmptyInterface.
func (m Memory) Held(first uint64) string {
	off := first - m.Base
	if off >= uint64(len(m.Data)) || off%8 != 0 {
		return ""
	}
	r := memoryReader{Memory: m}
	of := r.ref(uint32(off) + 8)
	if r.failed { // the second word of a type is a number of bytes
		r.failed, of = false, ID(off)
	}
	if kind := r.word(uint32(of)+rtKind, 1) & kindMask; kind == 0 || int(kind) >= len(sizes) {
		return ""
	}
	name := r.name(uint32(r.word(uint32(of)+rtName, 4)))
	if r.failed {
		return ""
	}
	return strings.TrimPrefix(name, "*")
}

// TypeName returns the name of the type at an address with the whole path of its package; "": there is none, or it has none.
func (m Memory) TypeName(addr uint64) string {
	off := addr - m.Base
	if off >= uint64(len(m.Data)) || off%8 != 0 {
		return ""
	}
	x, ok := m.describe(uint32(off))
	if !ok {
		return ""
	}
	return x.Name
}

// memoryReader reads Memory, and notes whether anything lies outside.
type memoryReader struct {
	Memory
	failed bool
}

func (r *memoryReader) word(off uint32, n int) uint64 {
	if uint64(off)+uint64(n) > uint64(len(r.Data)) {
		r.failed = true
		return 0
	}
	var b [8]byte
	copy(b[:n], r.Data[off:])
	return binary.LittleEndian.Uint64(b[:])
}

// fields reads those of the struct at off: each is a name, a type, an offset.
func (r *memoryReader) fields(off uint32) (list []Field) {
	const size = 24
	n := r.word(off+rtCount, 8)
	if n == 0 {
		return nil
	}
	first := uint32(r.ref(off + rtNext))
	if n > uint64(len(r.Data))/size {
		r.failed = true
		return nil
	}
	for at := first; at < first+size*uint32(n); at += size {
		list = append(list, Field{r.name(uint32(r.ref(at))), r.ref(at + 8), int(r.word(at+16, 8))})
	}
	return list
}

// ref reads a pointer, and returns it as an offset.
func (r *memoryReader) ref(off uint32) ID {
	v := r.word(off, 8) - r.Base
	if v >= uint64(len(r.Data)) {
		r.failed = true
		return 0
	}
	return ID(v)
}

// name reads a name: a byte of marks, its length as a varint, its bytes.
func (r *memoryReader) name(off uint32) string {
	if uint64(off)+1 >= uint64(len(r.Data)) {
		r.failed = true
		return ""
	}
	rest := r.Data[off+1:]
	n, k := binary.Uvarint([]byte(rest[:min(binary.MaxVarintLen64, len(rest))]))
	if k <= 0 || n > uint64(len(rest)-k) {
		r.failed = true
		return ""
	}
	return rest[k:][:n]
}

// typeName returns the name with the whole path of its package. Names of types that are made of others
// follow from those; functions and interfaces have theirs as the runtime knows it.
func (r *memoryReader) typeName(off uint32, kind reflect.Kind) string {
	flags := r.word(off+rtFlags, 1)
	name := r.name(uint32(r.word(off+rtName, 4)))
	if flags&flagStar != 0 {
		name = strings.TrimPrefix(name, "*")
	}
	switch {
	case flags&flagNamed == 0 && kind == reflect.Chan && r.word(off+rtNext, 8) != uint64(reflect.BothDir):
		return name
	case flags&flagNamed == 0 && kind != reflect.Func && kind != reflect.Interface:
		return ""
	case flags&flagNamed == 0 || flags&flagUncommon == 0:
		return name
	}
	at := rtElem
	if int(kind) < len(behind) && behind[kind] > 0 {
		at = behind[kind]
	}
	path := r.name(uint32(r.word(off+uint32(at), 4)))
	if strings.HasPrefix(name, path) {
		return name
	}
	_, rest, _ := strings.Cut(name, ".")
	return path + "." + rest
}
