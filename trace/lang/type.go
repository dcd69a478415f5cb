package lang

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Unknown Kind = iota // nothing says it yet
	Void                // of functions that are called for what they do
	Int
	Bool
	String
	Bytes // buf()
	TupleOf
	Pointer
	StructOf
	ArrayOf
	SliceOf // a slice of Go
	StackID // kstack, ustack
	Symbol  // ksym(), usym(), func
	ProbeID // which attach point, and where
	TimeText
	// What maps alone have.
	Count
	Sum
	Min
	Max
	Avg
	Stats
	Hist
	LHist
)

var kindNames = [...]string{"unknown", "void", "int", "bool", "string", "buf", "tuple", "pointer", "struct", "array", "slice", "stack", "symbol", "probe", "timestamp",
	"count", "sum", "min", "max", "avg", "stats", "hist", "lhist"}

// String is the kind in words.
func (k Kind) String() string { return kindNames[k] }

// Type is the type of a value.
type Type struct {
	Kind   Kind
	Bytes  int // in memory; of an Int, what it is cut to
	Signed bool
	User   bool    // of programs, not the kernel: a pointer, stack, symbol
	Elems  []Type  // of a tuple
	Elem   *Type   // of a pointer to something else than a struct, and of an array
	To     *Struct // of a struct and of a pointer to one
	Depth  int     // of a stack: frames
	Go     bool    // of a String that is read: an address and a length
	Format string  // of a TimeText

	Low, High, Step int64 // of an LHist
}

// Struct is a structure.
type Struct struct {
	Name   string
	Bytes  int
	Fields []StructField
	Fill   func() // if not nil, it is called once, before Fields is read
}

// StructField is a part of a structure. Offset is in bytes.
type StructField struct {
	Name   string
	Offset int
	Type   Type
}

func (s *Struct) fields() []StructField {
	if fill := s.Fill; fill != nil {
		s.Fill = nil
		fill()
	}
	return s.Fields
}

// integer is a number of so many bytes.
func integer(bytes int, signed bool) Type { return Type{Kind: Int, Bytes: bytes, Signed: signed} }

var (
	int64Type  = integer(8, true)
	uint64Type = integer(8, false)
	boolType   = Type{Kind: Bool, Bytes: 1}
	voidType   = Type{Kind: Void}
)

func stringType(bytes int) Type { return Type{Kind: String, Bytes: up(bytes)} }

// up rounds a size up to whole words.
func up(n int) int { return (n + 7) &^ 7 }

// Size is how many bytes a value takes in a key, a value or a record: whole words.
func (t Type) Size() int {
	switch t.Kind {
	case String, Bytes, StructOf, ArrayOf:
		return up(t.Bytes)
	case TupleOf:
		n := 0
		for _, e := range t.Elems {
			n += e.Size()
		}
		return n
	case ProbeID, Avg, Stats:
		return 16
	case Unknown, Void:
		return 0
	}
	return 8
}

// isNumber tells whether a value is one number, in a register.
func (t Type) isNumber() bool {
	switch t.Kind {
	case Int, Bool, Pointer, StackID, Symbol, TimeText:
		return true
	}
	return false
}

// isInt tells whether one can calculate with a value.
func (t Type) isInt() bool { return t.Kind == Int || t.Kind == Bool || t.Kind == Pointer }

// Aggregates tells whether a map with such values is one table for each CPU.
func (t Type) Aggregates() bool { return t.Kind >= Count }

// Fits tells whether values of both types may be in the same map or variable.
func (t Type) fits(o Type) bool {
	switch {
	case t.isInt() && o.isInt():
		return true
	case t.Kind != o.Kind:
		return false
	case t.Kind == TupleOf:
		return slices.EqualFunc(t.Elems, o.Elems, Type.fits)
	case t.Kind == LHist:
		return t.Low == o.Low && t.High == o.High && t.Step == o.Step
	}
	return true
}

// wider returns what has room for values of both types, which fit.
func (t Type) wider(o Type) Type {
	switch {
	case t.Kind == Unknown:
		return o
	case t.Kind == TupleOf:
		t.Elems = slices.Clone(t.Elems)
		for i := range t.Elems {
			t.Elems[i] = t.Elems[i].wider(o.Elems[i])
		}
	case t.Kind == Bool && o.Kind == Int:
		return o
	default:
		if o.Bytes > t.Bytes {
			t.Bytes = o.Bytes
		}
		t.Signed = t.Signed || o.Signed
	}
	return t
}

// String is the type as errors name it.
func (t Type) String() string {
	switch t.Kind {
	case Int:
		sign := "u"
		if t.Signed {
			sign = ""
		}
		return fmt.Sprintf("%sint%d", sign, 8*t.Bytes)
	case String:
		return fmt.Sprintf("string[%d]", t.Bytes)
	case TupleOf:
		parts := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			parts[i] = e.String()
		}
		return "(" + strings.Join(parts, ",") + ")"
	case Pointer:
		if t.To != nil {
			return "struct " + t.To.Name + " *"
		}
		if t.Elem != nil {
			return t.Elem.String() + " *"
		}
		return "void *"
	case StructOf:
		return "struct " + t.To.Name
	case SliceOf:
		return "[]" + t.Elem.String()
	case ArrayOf:
		return fmt.Sprintf("%s[%d]", t.Elem, t.Bytes/max(1, t.Elem.Bytes))
	}
	return t.Kind.String()
}

// basicTypes are the numbers of C and of the language.
var basicTypes = map[string]Type{
	"int8": integer(1, true), "int16": integer(2, true), "int32": integer(4, true), "int64": integer(8, true),
	"uint8": integer(1, false), "uint16": integer(2, false), "uint32": integer(4, false), "uint64": integer(8, false),
	"int8_t": integer(1, true), "int16_t": integer(2, true), "int32_t": integer(4, true), "int64_t": integer(8, true),
	"uint8_t": integer(1, false), "uint16_t": integer(2, false), "uint32_t": integer(4, false), "uint64_t": integer(8, false),
	"s8": integer(1, true), "s16": integer(2, true), "s32": integer(4, true), "s64": integer(8, true),
	"u8": integer(1, false), "u16": integer(2, false), "u32": integer(4, false), "u64": integer(8, false),
	"char": integer(1, true), "short": integer(2, true), "int": integer(4, true), "long": integer(8, true), "long long": integer(8, true), "long int": integer(8, true),
	"unsigned": integer(4, false), "signed": integer(4, true), "unsigned char": integer(1, false), "unsigned short": integer(2, false), "unsigned int": integer(4, false),
	"unsigned long": integer(8, false), "unsigned long long": integer(8, false), "size_t": integer(8, false), "ssize_t": integer(8, true), "uintptr_t": integer(8, false),
	"pid_t": integer(4, true), "uid_t": integer(4, false), "gid_t": integer(4, false), "bool": boolType, "void": voidType,
}

// isTypeName tells whether a word can only be a type.
func isTypeName(s string) bool {
	_, ok := basicTypes[s]
	return ok || s == "string" || s == "buffer"
}
