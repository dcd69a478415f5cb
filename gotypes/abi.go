package gotypes

import "strings"

// Kind says how a type is passed.
type Kind uint8

const (
	Word      Kind = iota // an integer, a boolean, or one pointer: map, channel and function, too
	Float                 // float32, float64
	Complex               // complex64, complex128
	String                // pointer, length
	Interface             // type or table of methods, data
	Slice                 // pointer, length, capacity
	Array
	Struct
)

// Type is what a call needs to know of a type. Sizes are in bytes.
type Type struct {
	Kind   Kind
	Size   int
	Align  int
	Len    int     // of an array
	Elem   *Type   // of an array
	Fields []*Type // of a struct
}

// Reg is a register that carries a word of an argument: AX to R11 in ABIInternal's order, then X0
// to X14.
type Reg uint8

// The registers of ABIInternal on amd64, in the order in which they are given out.
const (
	AX Reg = iota
	BX
	CX
	DI
	SI
	R8
	R9
	R10
	R11
	X0

	intRegs   = int(X0)
	floatRegs = 15
	wordSize  = 8
)

// Place is where an argument or a result is.
type Place struct {
	Regs    []Reg // one for each of its words, in their order; none when it is on the stack
	Stack   int   // its offset from the first argument on the stack, in bytes
	OnStack bool
}

// Assign returns where a call by ABIInternal puts its arguments and results. The receiver of a
// method is the first argument, and a generic function's dictionary is a Word after the receiver.
//
// Source: Go internal ABI specification, "Function call argument and result passing".
func Assign(params, results []*Type) (args, res []Place) {
	var a assigner
	args = a.all(params)
	a.ints, a.floats = 0, 0
	a.stack = alignUp(a.stack, wordSize)
	return args, a.all(results)
}

// assigner is a call of which some arguments have their places.
type assigner struct {
	ints, floats int // registers given out
	stack        int // bytes given out
}

func (a *assigner) all(types []*Type) []Place {
	places := make([]Place, len(types))
	for i, t := range types {
		before := *a
		if regs, ok := a.regs(nil, t); ok && t.Size > 0 {
			places[i] = Place{Regs: regs}
			continue
		}
		*a = before
		a.stack = alignUp(a.stack, t.Align)
		places[i] = Place{Stack: a.stack, OnStack: true}
		a.stack += t.Size
	}
	return places
}

// regs appends the registers of a value of type t, and reports whether it fits.
func (a *assigner) regs(to []Reg, t *Type) ([]Reg, bool) {
	switch t.Kind {
	case Word:
		return a.takeInts(to, 1)
	case String, Interface:
		return a.takeInts(to, 2)
	case Slice:
		return a.takeInts(to, 3)
	case Float:
		return a.takeFloats(to, 1)
	case Complex:
		return a.takeFloats(to, 2)
	case Array:
		if t.Len == 1 {
			return a.regs(to, t.Elem)
		}
		return to, t.Len == 0
	}
	for _, f := range t.Fields {
		var ok bool
		if to, ok = a.regs(to, f); !ok {
			return to, false
		}
	}
	return to, true
}

func (a *assigner) takeInts(to []Reg, n int) ([]Reg, bool) {
	for range n {
		to = append(to, AX+Reg(a.ints))
		a.ints++
	}
	return to, a.ints <= intRegs
}

func (a *assigner) takeFloats(to []Reg, n int) ([]Reg, bool) {
	for range n {
		to = append(to, X0+Reg(a.floats))
		a.floats++
	}
	return to, a.floats <= floatRegs
}

func alignUp(n, align int) int { return (n + align - 1) / max(align, 1) * max(align, 1) }

// Dictionary returns the index among its arguments, the receiver included, at which a function of
// that name is given the dictionary of its type arguments, or -1 if it has none. It is a Word that
// no declaration shows. Closures find theirs in their context instead.
func Dictionary(name string) int {
	begin, end := strings.Index(name, "[go.shape."), strings.LastIndex(name, "]")
	if begin < 0 || end < begin || strings.HasPrefix(name, "type:") {
		return -1
	}
	switch rest := name[end+1:]; {
	case rest == "":
		return 0
	case strings.Contains(rest, ".func"), strings.Contains(rest, "-"):
		return -1
	}
	return 1
}
