package vmlinux

import (
	"fmt"
	"reflect"

	"sonde/bpf/btf"
	"sonde/gotypes"
	"sonde/kallsyms"
)

// functions writes all functions: by their C names, which none has that is Linux's, and those that Linux's names
// stand for.
func (e *encoder) functions() (funcs []Func) {
	var names []string
	var calls []gotypes.Call
	for c := range e.t.Funcs {
		names, calls = append(names, c.Name), append(calls, c)
	}
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	add := func(name string, c gotypes.Call, linux int, proto btf.ID) {
		id := e.b.Add(btf.Type{Kind: btf.Func, Name: name, Of: proto, Linkage: btf.Static})
		funcs = append(funcs, Func{id, int32(linux), c.Addr})
	}
	cNames := short(kallsyms.CNames(names))
	for i, c := range calls {
		if _, taken := kallsyms.Linux(cNames[i]); !taken {
			add(cNames[i], c, -1, e.proto(c))
		}
	}
	for i, l := range kallsyms.LinuxNames() {
		if k, ok := at[l.Func]; ok {
			add(l.Name, calls[k], i, e.words(calls[k], l.Skip))
		}
	}
	return funcs
}

// words returns the prototype of a function as C would have it whose arguments are words: without the first
// ones, and with the first word of its results.
func (e *encoder) words(c gotypes.Call, skip int) btf.ID {
	p := btf.Type{Kind: btf.FuncProto}
	for i, a := range c.Params() {
		p.Params = append(p.Params, e.params(a, argument(a, "arg", i))...)
	}
	p.Params = p.Params[min(skip, len(p.Params)):]
	if len(c.Results) > 0 {
		if first := e.params(c.Results[0], ""); len(first) > 0 {
			p.Of = first[0].Type
		}
	}
	return e.b.Add(p)
}

// params are the words of an argument.
func (e *encoder) params(a gotypes.Arg, name string) (list []btf.Param) {
	x := e.t.Type(a.Type)
	word := e.integer(reflect.Uint)
	one := func(suffix string, of btf.ID) { list = append(list, btf.Param{Name: name + suffix, Type: of}) }
	switch x.Kind {
	case reflect.Invalid:
		one("", e.void)
	case reflect.String, reflect.Slice:
		of := e.integer(reflect.Uint8)
		if x.Kind == reflect.Slice {
			of = e.value(x.Elem)
		}
		one("", e.b.Add(btf.Type{Kind: btf.Ptr, Of: of}))
		one("_len", e.int)
		if x.Kind == reflect.Slice {
			one("_cap", e.int)
		}
	case reflect.Struct, reflect.Array, reflect.Interface, reflect.Complex64, reflect.Complex128:
		n := len(a.Regs)
		if a.OnStack {
			n = (x.Size + 7) / 8
		}
		for i := range n {
			one(fmt.Sprintf("_%d", i), word)
		}
	default:
		one("", e.value(a.Type))
	}
	return list
}
