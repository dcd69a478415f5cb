package gotypes

import "reflect"

// ID is the number of a type in its table. 0 is a type of which nothing is known.
type ID uint32

// Desc describes a type. Sizes and offsets are in bytes.
type Desc struct {
	Name   string // as Go writes it, with whole paths: sonde/kernel/vfs.File; for Encode, "" may be one that follows from others
	Kind   reflect.Kind
	Size   int
	Align  int
	Elem   ID      // of a pointer, slice, array, channel or map
	Key    ID      // of a map
	Len    int     // of an array
	Fields []Field // of a struct

	// Runtime is where in the Memory the runtime's description is, if DWARF says so. Encode needs it;
	// a table does not have it.
	Runtime uint32
}

// Field is a field of a struct.
type Field struct {
	Name   string // of an embedded field, that of its type
	Type   ID
	Offset int
}

// Param is an argument or a result.
type Param struct {
	Name string // "" and "_": it has none
	Type ID
}

// Func is what a function takes and gives. The receiver of a method is the first argument.
type Func struct {
	Addr            uint64
	Params, Results []Param

	// Copies has, for each inlined copy in the order of pcln.Table.Copies, where its arguments are when control
	// arrives at its lowest address. It is nil if that is known of no argument; so is an element.
	Copies [][]Spot
}

// Spot is where an argument of a copy is, if that is known.
type Spot struct {
	Regs    []uint8 // one for each of its words, by the numbers that instructions have for them
	Stack   int     // its distance from the stack pointer, in bytes
	OnStack bool
}

// Known reports whether it is known where the argument is.
func (s Spot) Known() bool { return s.OnStack || len(s.Regs) > 0 }

// Info is all that a table holds, in the order of addresses.
type Info struct {
	Types []Desc
	Funcs []Func
}

// eachPart calls f with the place of each type that x has in it.
func (x *Desc) eachPart(f func(*ID)) {
	switch x.Kind {
	case reflect.Map:
		f(&x.Key)
		fallthrough
	case reflect.Pointer, reflect.Slice, reflect.Chan, reflect.Array:
		f(&x.Elem)
	}
	for i := range x.Fields {
		f(&x.Fields[i].Type)
	}
}
