package btf

import "fmt"

// Kind is what a type is, by its number in the format.
type Kind uint8

// The kinds. Void is the type with id 0, and never written.
const (
	Void Kind = iota
	Int
	Ptr
	Array
	Struct
	Union
	Enum
	Fwd // a structure or union that is only declared
	Typedef
	Volatile
	Const
	Restrict
	Func
	FuncProto
	Var
	Datasec // the variables of one section of an object
	Float
	DeclTag // a note on a declaration
	TypeTag // a note on what a pointer points to
	Enum64
	numKinds
)

// naming is the rule for the name of a kind.
type naming uint8

const (
	anonymous  naming = iota // has none
	free                     // none, or any
	optional                 // none, or an identifier
	identifier               // an identifier
	section                  // printable, such as ".data"
	text                     // any, but not empty
)

// shape is how a kind is written.
type shape struct {
	name  string
	names naming
	fixed int  // bytes after the 12 that all types have
	entry int  // bytes of each entry after them; 0: it has none
	flag  bool // the flag may be set
	sized bool // the third word is a size; otherwise, a type
	empty bool // the third word is 0
}

var shapes = [numKinds]shape{
	Void:      {name: "void"},
	Int:       {name: "INT", names: free, fixed: 4, sized: true},
	Ptr:       {name: "PTR"},
	Array:     {name: "ARRAY", fixed: 12, empty: true},
	Struct:    {name: "STRUCT", names: optional, entry: 12, flag: true, sized: true},
	Union:     {name: "UNION", names: optional, entry: 12, flag: true, sized: true},
	Enum:      {name: "ENUM", names: optional, entry: 8, flag: true, sized: true},
	Fwd:       {name: "FWD", names: identifier, flag: true, empty: true},
	Typedef:   {name: "TYPEDEF", names: identifier},
	Volatile:  {name: "VOLATILE"},
	Const:     {name: "CONST"},
	Restrict:  {name: "RESTRICT"},
	Func:      {name: "FUNC", names: identifier},
	FuncProto: {name: "FUNC_PROTO", entry: 8},
	Var:       {name: "VAR", names: identifier, fixed: 4},
	Datasec:   {name: "DATASEC", names: section, entry: 12, sized: true},
	Float:     {name: "FLOAT", names: free, sized: true},
	DeclTag:   {name: "DECL_TAG", names: text, fixed: 4, flag: true},
	TypeTag:   {name: "TYPE_TAG", names: text, flag: true},
	Enum64:    {name: "ENUM64", names: optional, entry: 12, flag: true, sized: true},
}

// String is the name of the kind in the format, as "FUNC_PROTO".
func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return shapes[k].name
}

// isModifier tells whether a type of this kind is another one under a name or with a qualifier.
func (k Kind) isModifier() bool {
	switch k {
	case Typedef, Volatile, Const, Restrict, TypeTag:
		return true
	}
	return false
}

// isValue tells whether pointers, members and elements may be of this kind: it is not a
// declaration.
func (k Kind) isValue() bool { return k != Func && k != Var && k != Datasec && k != DeclTag }
