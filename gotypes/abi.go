package gotypes

import (
	"reflect"
	"strings"
)

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
// method is the first argument, and a generic function's dictionary comes after the receiver. A type that is not among
// types is a word, as a dictionary.
//
// Source: Go internal ABI specification, "Function call argument and result passing".
func Assign(types []Desc, params, results []Param) (args, res []Place) {
	a := assigner{types: types}
	args = a.all(params)
	a.ints, a.floats = 0, 0
	a.stack = alignUp(a.stack, wordSize)
	return args, a.all(results)
}

// assigner is a call of which some arguments have their places.
type assigner struct {
	types        []Desc
	ints, floats int // registers given out
	stack        int // bytes given out
}

var wordType = Desc{Kind: reflect.Uintptr, Size: wordSize, Align: wordSize}

func (a *assigner) desc(id ID) *Desc {
	if int64(id) >= int64(len(a.types)) {
		return &wordType
	}
	return &a.types[id]
}

func (a *assigner) all(params []Param) []Place {
	places := make([]Place, len(params))
	for i, p := range params {
		before, x := *a, a.desc(p.Type)
		if regs, ok := a.regs(nil, x); ok && x.Size > 0 {
			places[i] = Place{Regs: regs}
			continue
		}
		*a = before
		a.stack = alignUp(a.stack, x.Align)
		places[i] = Place{Stack: a.stack, OnStack: true}
		a.stack += x.Size
	}
	return places
}

// regs appends the registers of a value of a type, and reports whether it fits.
func (a *assigner) regs(to []Reg, x *Desc) (_ []Reg, ok bool) {
	switch x.Kind {
	case reflect.Float32, reflect.Float64:
		return a.takeFloats(to, 1)
	case reflect.Complex64, reflect.Complex128:
		return a.takeFloats(to, 2)
	case reflect.Array:
		if x.Len == 1 {
			return a.regs(to, a.desc(x.Elem))
		}
		return to, x.Len == 0
	case reflect.Struct, reflect.Invalid:
		for i := 0; i < len(x.Fields) && x.Size > 0; i++ {
			if to, ok = a.regs(to, a.desc(x.Fields[i].Type)); !ok {
				return to, false
			}
		}
		return to, true
	}
	return a.takeInts(to, max(1, words[x.Kind]))
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
