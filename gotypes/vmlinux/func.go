package vmlinux

import (
	"fmt"
	"reflect"

	"sonde/bpf/btf"
	"sonde/gotypes"
	"sonde/kallsyms"
)

// functions writes those of which something is known, by the names that tools know them by.
func (e *encoder) functions(aliases []kallsyms.Alias) (funcs []Func) {
	linux := map[string]int{}
	for i, l := range kallsyms.LinuxNames() {
		linux[l.Name] = i
	}
	for i, a := range aliases {
		addr := a.Symbol.Addr
		params, results, ok := e.t.Declaration(addr)
		if !ok {
			continue
		}
		f := Func{Linux: -1, Addr: addr}
		x := btf.Type{Kind: btf.Func, Name: short(a.Name, i), Linkage: btf.Static}
		if a.Linux {
			k := linux[a.Name]
			c, _ := e.t.Func(addr)
			f.Linux, x.Of = int32(k), e.words(c, kallsyms.LinuxNames()[k].Skip)
		} else {
			x.Of = e.proto(params, results)
		}
		f.ID = e.b.Add(x)
		funcs = append(funcs, f)
	}
	return funcs
}

// words returns the prototype of a function as C would have it whose arguments are words: without the first
// ones, and with the first word of its results.
func (e *encoder) words(c gotypes.Call, skip int) btf.ID {
	p := btf.Type{Kind: btf.FuncProto}
	for i, a := range c.Params() {
		p.Params = append(p.Params, e.inWords(a, argument(a.Param, "arg", i))...)
	}
	p.Params = p.Params[min(skip, len(p.Params)):]
	if len(c.Results) > 0 {
		if first := e.inWords(c.Results[0], ""); len(first) > 0 {
			p.Of = first[0].Type
		}
	}
	return e.b.Add(p)
}

// inWords are the words of an argument.
func (e *encoder) inWords(a gotypes.Arg, name string) (list []btf.Param) {
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
