package gotypes

import (
	"reflect"
	"slices"
)

// Piece is a part of an argument or a result that lies in one place: in a register, or on the stack.
type Piece struct {
	Reg     Reg
	Stack   int // if OnStack, as in Place
	OnStack bool
	Offset  int // where it belongs in the row, in bytes
	Size    int
}

// Params returns all that the function takes, in order, also the dictionary of a generic function, whose type is
// unknown.
func (c *Call) Params() []Arg {
	if c.Hidden == nil {
		return c.Args
	}
	return slices.Insert(slices.Clone(c.Args), Dictionary(c.Name), Arg{dictionary, *c.Hidden})
}

var dictionary = Param{Name: "dictionary"}

// Row returns of what arguments are made if they lie in memory as C would have them for an eBPF program: one
// after the other, each from a multiple of 8 bytes on. Its second result is how many bytes that takes.
func (t *Table) Row(args []Arg) (pieces []Piece, size int) {
	for _, a := range args {
		n := t.Type(a.Type).Size
		if a.Type == 0 { // a dictionary
			n = wordSize * len(a.Regs)
		}
		switch {
		case a.OnStack && n > 0:
			pieces = append(pieces, Piece{Stack: a.Stack, OnStack: true, Offset: size, Size: n})
		case len(a.Regs) > 0:
			first := len(pieces)
			pieces = t.words(pieces, a.Type, size)
			for i, r := range a.Regs {
				pieces[first+i].Reg = r
			}
		}
		size += alignUp(n, wordSize)
	}
	return pieces, size
}

// words appends what of a type has a register of its own, in the order of assigner.regs.
func (t *Table) words(to []Piece, id ID, at int) []Piece {
	x := t.Type(id)
	switch x.Kind {
	case reflect.Struct:
		for _, f := range x.Fields {
			to = t.words(to, f.Type, at+f.Offset)
		}
		return to
	case reflect.Array:
		if x.Len == 1 {
			to = t.words(to, x.Elem, at)
		}
		return to
	}
	n := max(1, words[x.Kind])
	size := x.Size / n
	if id == 0 {
		size = wordSize
	}
	for i := range n {
		to = append(to, Piece{Offset: at + i*size, Size: size})
	}
	return to
}

// words is how many there are of a type, if not one.
var words = map[reflect.Kind]int{reflect.String: 2, reflect.Interface: 2, reflect.Slice: 3, reflect.Complex64: 2, reflect.Complex128: 2}
