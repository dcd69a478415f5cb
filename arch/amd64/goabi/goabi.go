// Package goabi has what Go's calling convention says about a call's frame and about
// function values.
//
// Source: the Go tree's src/cmd/compile/abi-internal.md, "Function call argument and
// result passing".
package goabi

import "reflect"

// WordSize is the size of a register in bytes, and the alignment of a frame's parts.
const WordSize = 8

// How many arguments are passed in registers.
const (
	intRegs   = 9
	floatRegs = 15
)

// CallFrame returns what a call of a function of type t needs in its caller's frame, in bytes: args
// for arguments on the stack, and size in all, with results on the stack and the space where the
// callee spills register arguments.
func CallFrame(t reflect.Type) (args, size uintptr) {
	var frame, spill frameLayout
	var in, out argRegs
	for i := range t.NumIn() {
		if in.take(t.In(i)) {
			spill.add(t.In(i))
		} else {
			frame.add(t.In(i))
		}
	}
	frame.align(WordSize)
	args = frame.size
	for i := range t.NumOut() {
		if !out.take(t.Out(i)) {
			frame.add(t.Out(i))
		}
	}
	frame.align(WordSize)
	spill.align(WordSize)
	return args, frame.size + spill.size
}

// frameLayout places values one after the other.
type frameLayout struct{ size uintptr }

func (l *frameLayout) add(t reflect.Type) {
	l.align(uintptr(t.Align()))
	l.size += t.Size()
}

func (l *frameLayout) align(n uintptr) { l.size = (l.size + n - 1) / n * n }

// argRegs is how many registers are in use.
type argRegs struct{ ints, floats int }

// take assigns registers to a value of type t; it returns false, and takes none, if they are not
// enough or t is never passed in registers.
func (r *argRegs) take(t reflect.Type) bool {
	n := *r
	if t.Size() == 0 || !n.assign(t) || n.ints > intRegs || n.floats > floatRegs {
		return false
	}
	*r = n
	return true
}

// assign counts the registers for t; false: an array with several elements.
func (r *argRegs) assign(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		r.floats++
	case reflect.Complex64, reflect.Complex128:
		r.floats += 2
	case reflect.String, reflect.Interface:
		r.ints += 2
	case reflect.Slice:
		r.ints += 3
	case reflect.Array:
		return t.Len() == 0 || t.Len() == 1 && r.assign(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !r.assign(t.Field(i).Type) {
				return false
			}
		}
	default:
		r.ints++
	}
	return true
}

// CodeOf returns the address of a function's code, 0 if f is not a function.
func CodeOf(f any) uintptr {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return 0
	}
	return v.Pointer()
}
