package btf

import (
	"errors"
	"fmt"
)

// ID is the number of a type in its section. 0 is void.
type ID uint32

// Limits of the format, as Linux has them.
const (
	maxSection = 16 << 20 // bytes
	maxID      = 1<<20 - 1
	maxEntries = 1<<16 - 1
	maxName    = 511 // bytes
	maxNameOff = 1<<24 - 1
	maxDepth   = 32 // of types in types
)

// How the number in an Int is meant.
const (
	Signed uint8 = 1
	Char   uint8 = 2
	Bool   uint8 = 4
)

// Linkage is where a Func or Var can be seen.
type Linkage uint32

// The linkages.
const (
	Static Linkage = 0
	Global Linkage = 1
	Extern Linkage = 2 // defined elsewhere
)

// Type is one type. Fields that its kind does not use are 0.
type Type struct {
	Kind Kind
	Name string
	Size uint32 // bytes: Int, Struct, Union, Enum, Enum64, Float, Datasec
	Of   ID     // what is pointed to, renamed, qualified, declared or tagged; an Array's element; what a FuncProto returns

	Flag bool // Fwd: a union; Enum, Enum64: values are signed; DeclTag, TypeTag: an attribute of C

	Encoding uint8 // Int: 0, Signed, Char or Bool
	Shift    uint8 // Int: bits below the lowest one of the number; 0 but in old sections
	Bits     uint8 // Int: of the number

	Index ID     // Array: the type of an index
	Count uint32 // Array: elements

	Linkage   Linkage // Func, Var
	Component int32   // DeclTag: the member or parameter that it is on, or -1: all

	Members   []Member   // Struct, Union
	Values    []Value    // Enum, Enum64
	Params    []Param    // FuncProto
	Variables []Variable // Datasec
}

// Member is a member of a structure or union.
type Member struct {
	Name   string // "": anonymous
	Type   ID
	Offset uint32 // bits
	Bits   uint8  // 0: not a bit-field
}

// Value is a constant of an enumeration.
type Value struct {
	Name   string
	Number uint64 // signed: in two's complement
}

// Param is a parameter of a function. The last one has neither name nor type if more may follow.
type Param struct {
	Name string
	Type ID
}

// Variable is a variable in a section. Units: bytes.
type Variable struct {
	Var    ID
	Offset uint32
	Size   uint32
}

// Table is the types of one section. Its methods may be called from many goroutines at a time.
type Table struct {
	types   []Type // by id; types[0] is void
	names   map[string][]ID
	strings string
	layouts []layout // by id
	object  bool     // of an object file: sections of variables have no addresses yet
}

// ErrNotFound is why a name has no type.
var ErrNotFound = errors.New("no such type")

// Len returns how many ids there are: the highest is Len() - 1.
func (t *Table) Len() int { return len(t.types) }

// Type returns the type with an id, or nil if there is none. It must not be changed.
func (t *Table) Type(id ID) *Type {
	if int64(id) >= int64(len(t.types)) {
		return nil
	}
	return &t.types[id]
}

// Named returns the types with a name, in the order of their ids. Tags are not found: their text
// is no name.
func (t *Table) Named(name string) []ID { return t.names[name] }

// Find returns the first type of a kind that has a name.
//
// Errors: ErrNotFound, with the kind and the name.
func (t *Table) Find(kind Kind, name string) (ID, error) {
	for _, id := range t.names[name] {
		if t.types[id].Kind == kind {
			return id, nil
		}
	}
	return 0, fmt.Errorf("%s %s: %w", kind, name, ErrNotFound)
}

// Size returns how many bytes a value of a type takes. ok is false if it has no size: void,
// functions, and what is only declared.
func (t *Table) Size(id ID) (bytes uint32, ok bool) {
	if t.Type(id) == nil || t.layouts[id].sizeless {
		return 0, false
	}
	return t.layouts[id].size, true
}

// Underlying returns the type that is left when names and qualifiers are taken off: an id of a
// type that is no Typedef, Volatile, Const, Restrict or TypeTag. An id out of range is returned as
// it is.
func (t *Table) Underlying(id ID) ID {
	if t.Type(id) == nil {
		return id
	}
	return t.layouts[id].under
}

// describe names a type in an error, as "type 3 (STRUCT pair)".
func (t *Table) describe(id ID) string {
	x := &t.types[id]
	switch {
	case id == 0:
		return "void"
	case x.Kind == Void: // not read so far
		return fmt.Sprintf("type %d", id)
	case x.Name == "":
		return fmt.Sprintf("type %d (%s)", id, x.Kind)
	}
	return fmt.Sprintf("type %d (%s %s)", id, x.Kind, x.Name)
}
