package vmlinux

import (
	"fmt"
	"math"
	"reflect"

	"sonde/bpf/btf"
	"sonde/gotypes"
	"sonde/kallsyms"
)

// Func is a function of the section. If a name of Linux's stands for it, its parameters are words.
type Func struct {
	ID    btf.ID
	Linux int32 // index in kallsyms.LinuxNames; -1: it has its own name
	Addr  uint64
}

// Encode returns the section with all types and functions of the table, and its functions by their ids. aliases are
// the names that C allows and those of Linux, as kallsyms.Table.Aliases has them.
//
// Errors: those of btf.Builder.
func Encode(t *gotypes.Table, aliases []kallsyms.Alias) ([]byte, []Func, error) {
	e := encoder{t: t, b: btf.NewBuilder(), ids: make([]btf.ID, t.Len()), names: typeNames(t)}
	e.void = e.b.Add(btf.Type{Kind: btf.Ptr})
	e.int = e.integer(reflect.Int)
	e.registers()
	e.typedefs()
	for id := range t.Len() {
		e.value(gotypes.ID(id))
	}
	funcs := e.functions(aliases)
	data, err := e.b.Bytes()
	return data, funcs, err
}

// encoder writes types after those that they need.
type encoder struct {
	t         *gotypes.Table
	b         *btf.Builder
	ids       []btf.ID    // by those of Go's types; 0: not written yet
	names     []string    // of types, by their ids; "": Go gives it none
	void, int btf.ID      // void *, long
	params    []btf.Param // of the prototype that is written
}

// value returns the BTF of a Go type.
func (e *encoder) value(id gotypes.ID) btf.ID {
	if e.ids[id] != 0 {
		return e.ids[id]
	}
	x, name := e.t.Type(id), e.names[id]
	if name == char {
		e.ids[id] = e.b.Add(btf.Type{Kind: btf.Int, Name: char, Size: 1, Bits: 8, Encoding: btf.Signed})
		return e.ids[id]
	}
	switch x.Kind {
	case reflect.Struct, reflect.Slice, reflect.String, reflect.Interface, reflect.Complex64, reflect.Complex128:
		e.ids[id] = e.b.Declare() // its members may refer to it
		e.b.Define(e.ids[id], e.structure(x, name))
	default:
		if name == "" {
			e.ids[id] = e.plain(x)
			break
		}
		e.ids[id] = e.b.Declare()
		e.b.Define(e.ids[id], btf.Type{Kind: btf.Typedef, Name: name, Of: e.plain(x)})
	}
	return e.ids[id]
}

// plain returns the BTF of a type that is no structure, without its name.
func (e *encoder) plain(x *gotypes.Desc) btf.ID {
	switch x.Kind {
	case reflect.Pointer:
		if x.Elem == 0 {
			return e.void
		}
		return e.b.Add(btf.Type{Kind: btf.Ptr, Of: e.value(x.Elem)})
	case reflect.Array:
		count := x.Len
		if x.Size > math.MaxUint32 { // only after pointers, for any address; as an array without an end in C
			count = 0
		}
		return e.b.Add(btf.Type{Kind: btf.Array, Of: e.value(x.Elem), Index: e.int, Count: uint32(count)})
	case reflect.Float32:
		return e.b.Add(btf.Type{Kind: btf.Float, Name: "float", Size: 4})
	case reflect.Float64:
		return e.b.Add(btf.Type{Kind: btf.Float, Name: "double", Size: 8})
	}
	if reflect.Bool <= x.Kind && x.Kind <= reflect.Uintptr {
		return e.integer(x.Kind)
	}
	return e.void
}

// integers have the names of C's, and whether they are signed.
var integers = [...]btf.Type{
	reflect.Bool:  {Name: "_Bool", Size: 1, Encoding: btf.Bool},
	reflect.Int:   {Name: "long", Size: 8, Encoding: btf.Signed},
	reflect.Int8:  {Name: "signed char", Size: 1, Encoding: btf.Signed},
	reflect.Int16: {Name: "short", Size: 2, Encoding: btf.Signed},
	reflect.Int32: {Name: "int", Size: 4, Encoding: btf.Signed},
	reflect.Int64: {Name: "long long", Size: 8, Encoding: btf.Signed},
	reflect.Uint:  {Name: "unsigned long", Size: 8}, reflect.Uint8: {Name: "unsigned char", Size: 1},
	reflect.Uint16: {Name: "unsigned short", Size: 2}, reflect.Uint32: {Name: "unsigned int", Size: 4},
	reflect.Uint64: {Name: "unsigned long long", Size: 8}, reflect.Uintptr: {Name: "unsigned long", Size: 8},
}

func (e *encoder) integer(kind reflect.Kind) btf.ID {
	x := integers[kind]
	x.Kind, x.Bits = btf.Int, uint8(8*x.Size)
	return e.b.Add(x)
}

// structure returns what has members.
func (e *encoder) structure(x *gotypes.Desc, name string) btf.Type {
	s := btf.Type{Kind: btf.Struct, Name: name, Size: uint32(x.Size)}
	add := func(name string, of btf.ID, offset int) {
		s.Members = append(s.Members, btf.Member{Name: name, Type: of, Offset: uint32(8 * offset)})
	}
	unnamed := ""
	switch x.Kind {
	case reflect.Struct:
		names := fieldNames(x)
		for i, f := range x.Fields {
			add(names[i], e.value(f.Type), f.Offset)
		}
	case reflect.Slice:
		unnamed = "slice_" + e.partName(x.Elem)
		add("array", e.b.Add(btf.Type{Kind: btf.Ptr, Of: e.value(x.Elem)}), 0)
		add("len", e.int, 8)
		add("cap", e.int, 16)
	case reflect.String:
		unnamed = "string"
		add("str", e.b.Add(btf.Type{Kind: btf.Ptr, Of: e.integer(reflect.Uint8)}), 0)
		add("len", e.int, 8)
	case reflect.Interface:
		unnamed = "interface"
		add("tab", e.void, 0)
		add("data", e.void, 8)
	case reflect.Complex64, reflect.Complex128:
		half := e.plain(&gotypes.Desc{Kind: map[int]reflect.Kind{8: reflect.Float32, 16: reflect.Float64}[x.Size]})
		unnamed = fmt.Sprintf("complex%d", 8*x.Size)
		add("real", half, 0)
		add("imag", half, x.Size/2)
	}
	if s.Name == "" {
		s.Name = cut(unnamed)
	}
	return s
}

// proto returns the prototype of a function.
func (e *encoder) proto(params, results []gotypes.Param) btf.ID {
	p := btf.Type{Kind: btf.FuncProto, Params: e.params[:0]}
	for i, a := range params {
		p.Params = append(p.Params, btf.Param{Name: argument(a, "arg", i), Type: e.value(a.Type)})
	}
	switch len(results) {
	case 0:
	case 1:
		p.Of = e.value(results[0].Type)
	default:
		p.Of = e.results(results)
	}
	e.params = p.Params
	return e.b.Add(p)
}

// results returns a structure of several results.
func (e *encoder) results(list []gotypes.Param) btf.ID {
	s := btf.Type{Kind: btf.Struct}
	size, align := 0, 1
	for i, r := range list {
		x := e.t.Type(r.Type)
		size = alignUp(size, x.Align)
		s.Members = append(s.Members, btf.Member{Name: argument(r, "r", i), Type: e.value(r.Type), Offset: uint32(8 * size)})
		size, align = size+x.Size, max(align, x.Align)
	}
	s.Size = uint32(alignUp(size, align))
	return e.b.Add(s)
}

func alignUp(n, align int) int { return (n + align - 1) / max(align, 1) * max(align, 1) }
