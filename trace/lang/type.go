package lang

import (
	"fmt"
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
	ProbeID // a number in Unit.Places, and an address whose name comes after that; 0: none
	TimeText
	ErrorText // strerror()
	UserName
	Inet // ntop(): the family, and 16 bytes
	Mac  // macaddr()
	// What maps alone have.
	Count
	Sum
	Min
	Max
	Avg
	Stats
	Hist
	LHist
	TSeries
)

var kindNames = [...]string{"unknown", "void", "int", "bool", "string", "buf", "tuple", "pointer", "struct", "array", "slice", "stack", "symbol", "probe", "timestamp", "strerror", "username", "inet", "mac",
	"count", "sum", "min", "max", "avg", "stats", "hist", "lhist", "tseries"}

// String is the kind in words.
func (k Kind) String() string { return kindNames[k] }

// Type is the type of a value.
type Type struct {
	Kind    Kind
	Bytes   int // in memory; of an Int, what it is cut to
	Signed  bool
	User    bool     // of programs, not the kernel: a pointer, stack, symbol
	Elems   []Type   // of a tuple
	Names   []string // of a tuple's parts, if it is a record
	Enum    *Enum    // of an Int that has one of its names
	Literal bool     // of an Int that is written out: it fits others
	Elem    *Type    // of a pointer to something else than a struct, and of an array
	To      *Struct  // of a struct and of a pointer to one
	Depth   int      // of a stack: frames
	Go      bool     // of a String that is read: an address and a length
	Format  string   // of a TimeText; of a Symbol, CallName if it is the number of a system call; of an interface of Go, its name; of a tuple, kvar or umap if it names a place in memory

	Low, High, Step int64  // of an LHist; of a TSeries, Step is its interval and High how many it shows
	Bits            int    // of a Hist: each power of 2 has 1<<Bits buckets
	Agg             Kind   // of a TSeries: what it keeps of each interval; Unknown: the last value
	Mode            string // of a stack: how it is printed
}

// Struct is a structure.
type Struct struct {
	Name   string
	Bytes  int
	Fields []StructField
	align  int    // bytes; 0: what its fields need
	Fill   func() // if not nil, it is called once, before Fields is read
}

// StructField is a part of a structure. Offset is in bytes.
type StructField struct {
	Name   string
	Offset int
	Type   Type
	Bits   int // of a bit field, from the bit Shift on; 0: it is none
	Shift  int
}

// All returns the fields.
func (s *Struct) All() []StructField {
	if fill := s.Fill; fill != nil {
		s.Fill = nil
		fill()
	}
	return s.Fields
}

// Field returns a field, also of structures without a name inside; nil if there is none of that name.
func (s *Struct) Field(name string) *StructField {
	f, _ := s.find(name)
	return f
}

// find returns a field, also of structures without a name inside, and the names of all.
func (s *Struct) find(name string) (found *StructField, names []string) {
	for _, f := range s.All() {
		if f.Name == "" && f.Type.To != nil {
			in, more := f.Type.To.find(name)
			if names = append(names, more...); in != nil {
				in.Offset += f.Offset
				return in, names
			}
		}
		if f.Name == name {
			return &f, names
		}
		names = append(names, f.Name)
	}
	return nil, names
}

// integer is a number of so many bytes.
func integer(bytes int, signed bool) Type { return Type{Kind: Int, Bytes: bytes, Signed: signed} }

var (
	int64Type  = integer(8, true)
	uint64Type = integer(8, false)
	boolType   = Type{Kind: Bool, Bytes: 1}
	voidType   = Type{Kind: Void}
)

func stringType(bytes int) Type { return Type{Kind: String, Bytes: bytes} }

// literal is the type of a number that is written out: the smallest that has it.
func literal(n uint64) Type {
	t := Type{Kind: Int, Bytes: 8, Signed: int64(n) >= 0, Literal: true}
	for bytes := 1; bytes < 8 && t.Signed; bytes *= 2 {
		if n < 1<<(8*bytes-1) {
			t.Bytes = bytes
			break
		}
	}
	return t
}

// up rounds a size up to whole words.
func up(n int) int { return (n + 7) &^ 7 }

// Size is how many bytes a value takes in a key, a value or a record: whole words.
func (t Type) Size() int {
	switch t.Kind {
	case Bytes:
		return 8 + up(t.Bytes) // how many there are comes first
	case String, StructOf, ArrayOf:
		return up(t.Bytes)
	case TSeries:
		return 32
	case Inet:
		return 24
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

// words is how many words a value takes, at least one for each of its parts.
func (t Type) words() int {
	if t.Kind != TupleOf {
		return max(1, t.Size()/8)
	}
	n := 1
	for _, e := range t.Elems {
		n += e.words()
	}
	return n
}

// isNumber tells whether a value is one number, in a register.
func (t Type) isNumber() bool {
	switch t.Kind {
	case Int, Bool, Pointer, StackID, Symbol, TimeText, ErrorText, UserName, Mac:
		return true
	}
	return false
}

// isPlainTuple tells whether a value is a tuple that is no more than its parts: as a key, it stands for them.
func (t Type) isPlainTuple() bool { return t.Kind == TupleOf && t.Names == nil && t.Format == "" }

// isInt tells whether one can calculate with a value.
func (t Type) isInt() bool { return t.Kind == Int || t.Kind == Bool || t.Kind == Pointer }

// isError tells whether a value is an error of Go.
func (t Type) isError() bool { return t.Kind == Pointer && t.Format == "error" }

// Aggregates tells whether a map with such values is one table for each CPU.
func (t Type) Aggregates() bool { return t.Kind >= Count }

// HasBuckets tells whether a map with such values has a key for each bucket.
func (t Type) HasBuckets() bool { return t.Kind == Hist || t.Kind == LHist || t.Kind == TSeries }

// sums tells whether a program can read what a map aggregates: one number.
func (t Type) sums() bool { return t.Kind >= Count && t.Kind <= Avg }

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
			if parts[i] = e.String(); t.Names != nil {
				parts[i] = t.Names[i] + "=" + parts[i]
			}
		}
		return "(" + strings.Join(parts, ",") + ")"
	case Pointer:
		if t.Format != "" {
			return t.Format
		}
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

// CallName is the Format of a Symbol that is no address, but the number of a system call.
const CallName = "call"
