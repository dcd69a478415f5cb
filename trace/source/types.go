package source

import (
	"cmp"
	"reflect"
	"strconv"

	"sonde/gotypes"
	"sonde/gotypes/vmlinux"
	"sonde/kallsyms"
	"sonde/probe/attach"
	"sonde/trace/lang"
)

// goTypes makes Go's types the language's.
type goTypes struct {
	table   *gotypes.Table
	structs map[gotypes.ID]*lang.Struct
}

// Struct implements lang.Structs: the kernel's types that are Linux's of another name.
func (s *Source) Struct(name string) *lang.Struct {
	of := vmlinux.GoName(name)
	if of == "" || s.Table == nil {
		return nil
	}
	table, err := s.Table()
	if err != nil {
		return nil
	}
	id, err := table.Named(of)
	if err != nil {
		return nil
	}
	g := goTypes{table, map[gotypes.ID]*lang.Struct{}}
	return g.structure(id)
}

// describe has a target know the arguments and the results of a function of the kernel, when a script asks
// for them.
func (s *Source) describe(t *lang.Target, site attach.Site) {
	if s.Types == nil || t.Pattern || site.Kind != attach.Kernel || site.Symbol == "" || site.Offset != 0 {
		return
	}
	t.Fill = func() error {
		sym, err := s.Symbols.Resolve(site.Symbol)
		if err != nil {
			return err
		}
		table, call, err := s.Types(sym.Addr)
		if err != nil {
			return err
		}
		g := goTypes{table, map[gotypes.ID]*lang.Struct{}}
		if !site.Return {
			t.Fields = g.fields(call.Args, func(_ int, name string) string { return name })
		} else {
			t.Results = g.fields(call.Results, func(i int, _ string) string { return strconv.Itoa(i) })
		}
		return nil
	}
}

// fields are what is in registers, but floating-point numbers.
func (g *goTypes) fields(args []gotypes.Arg, name func(i int, name string) string) (all []lang.ArgField) {
	for i, a := range args {
		f := lang.ArgField{Name: name(i, a.Name), Type: g.of(a.Type)}
		for n, r := range a.Regs {
			switch {
			case int(r) >= len(goArgs):
				f.Name = ""
			case n == 0:
				f.Offset = goArgs[r]
			default:
				f.More = append(f.More, goArgs[r])
			}
		}
		if f.Name != "" && f.Name != "_" && len(a.Regs) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// of is a type as the language has it. Of an interface, only whether there is something in it is known: it
// is the address of its type.
func (g *goTypes) of(id gotypes.ID) lang.Type {
	x := g.table.Type(id)
	switch k := x.Kind; k {
	case reflect.Bool:
		return lang.Type{Kind: lang.Bool, Bytes: 1}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return lang.Type{Kind: lang.Int, Bytes: x.Size, Signed: true}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return lang.Type{Kind: lang.Int, Bytes: x.Size}
	case reflect.String:
		return lang.Type{Kind: lang.String, Bytes: x.Size, Go: true}
	case reflect.Pointer:
		if g.table.Type(x.Elem).Kind == reflect.Struct {
			return lang.Type{Kind: lang.Pointer, Bytes: 8, To: g.structure(x.Elem)}
		}
		return lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &lang.Type{Kind: lang.Void}}
	case reflect.Slice:
		elem := g.of(x.Elem)
		return lang.Type{Kind: lang.SliceOf, Bytes: x.Size, Elem: &elem}
	case reflect.Array:
		if vmlinux.IsChar(g.table.Type(x.Elem)) {
			return lang.Type{Kind: lang.String, Bytes: x.Size}
		}
		elem := g.of(x.Elem)
		return lang.Type{Kind: lang.ArrayOf, Bytes: x.Size, Elem: &elem}
	case reflect.Struct:
		return lang.Type{Kind: lang.StructOf, Bytes: x.Size, To: g.structure(id)}
	case reflect.Interface:
		return lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &lang.Type{Kind: lang.Void}, Format: cmp.Or(kallsyms.Base(x.Name), "interface")}
	}
	return lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &lang.Type{Kind: lang.Void}}
}

// structure is a struct whose fields are looked at when a script asks for one.
func (g *goTypes) structure(id gotypes.ID) *lang.Struct {
	if s := g.structs[id]; s != nil {
		return s
	}
	x := g.table.Type(id)
	s := &lang.Struct{Name: kallsyms.Base(x.Name), Bytes: x.Size}
	g.structs[id] = s
	s.Fill = func() {
		c := vmlinux.LinuxFields(x)
		for i, f := range x.Fields {
			field := lang.StructField{Name: f.Name, Offset: f.Offset, Type: g.of(f.Type)}
			if i < len(c) {
				field.Name = c[i]
			}
			s.Fields = append(s.Fields, field)
		}
	}
	return s
}
