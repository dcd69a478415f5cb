package image

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sonde/gotypes"
)

// What Go adds to DWARF. Source: Go, cmd/internal/dwarf, DW_AT_go_*.
const (
	attrGoKind    dwarf.Attr = 0x2900
	attrGoKey     dwarf.Attr = 0x2901
	attrGoElem    dwarf.Attr = 0x2902
	attrGoRuntime dwarf.Attr = 0x2904
)

// typeReader collects what DWARF says of types.
type typeReader struct {
	d    *dwarf.Data
	ids  map[dwarf.Offset]gotypes.ID
	info gotypes.Info
	of   arguments
	err  error
}

// readTypes returns what the DWARF of a linked kernel says of the types of all functions' arguments and
// results.
//
// Errors: ErrLayout.
func readTypes(d *dwarf.Data) (*gotypes.Info, arguments, error) {
	r := typeReader{d: d, ids: map[dwarf.Offset]gotypes.ID{}, of: arguments{map[dwarf.Offset]uint64{}, map[dwarf.Offset]int{}}}
	r.info.Types = make([]gotypes.Desc, 1)
	all := d.Reader()
	for r.err == nil {
		e, err := all.Next()
		if err != nil || e == nil {
			r.err = err
			break
		}
		if e.Tag == dwarf.TagSubprogram {
			r.function(all, e)
		}
	}
	if r.err != nil {
		return nil, r.of, fmt.Errorf("%w: types: %w", ErrLayout, r.err)
	}
	slices.SortFunc(r.info.Funcs, func(a, b gotypes.Func) int { return cmp.Compare(a.Addr, b.Addr) })
	return &r.info, r.of, nil
}

// at returns the entry at an offset.
func (r *typeReader) at(off dwarf.Offset) *dwarf.Entry {
	reader := r.d.Reader()
	reader.Seek(off)
	e, err := reader.Next()
	if err != nil || e == nil {
		r.err = cmp.Or(r.err, err, fmt.Errorf("nothing at %#x", off))
		return &dwarf.Entry{}
	}
	return e
}

// origin returns the entry that has the name and type of one, which may be of a copy.
func (r *typeReader) origin(e *dwarf.Entry) *dwarf.Entry {
	if off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		return r.at(off)
	}
	return e
}

// function notes the arguments and results of a function that has code.
func (r *typeReader) function(all *dwarf.Reader, e *dwarf.Entry) {
	low, has := e.Val(dwarf.AttrLowpc).(uint64)
	if !e.Children {
		return
	}
	if !has {
		all.SkipChildren()
		return
	}
	f := gotypes.Func{Addr: low}
	if abstract, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		r.of.functions[abstract] = low
	}
	for {
		c, err := all.Next()
		if err != nil || c == nil || c.Tag == 0 {
			r.err = cmp.Or(r.err, err)
			break
		}
		if c.Tag == dwarf.TagFormalParameter {
			origin, n := r.origin(c), len(f.Params)
			if r.parameter(&f, origin); len(f.Params) > n {
				r.of.indices[origin.Offset] = n
			}
		}
		if c.Children {
			all.SkipChildren()
		}
	}
	r.info.Funcs = append(r.info.Funcs, f)
}

// parameter notes an argument or a result of f. Since Go 1.27, the dictionary of a generic function
// is among the arguments; gotypes knows by the name of the function that it has one.
func (r *typeReader) parameter(f *gotypes.Func, e *dwarf.Entry) {
	name, _ := e.Val(dwarf.AttrName).(string)
	if name == ".dict" {
		return
	}
	p := gotypes.Param{Name: name, Type: r.ref(e, dwarf.AttrType)}
	if out, _ := e.Val(dwarf.AttrVarParam).(bool); out {
		f.Results = append(f.Results, p)
	} else {
		f.Params = append(f.Params, p)
	}
}

// ref returns the type that an attribute refers to; 0: there is none.
func (r *typeReader) ref(e *dwarf.Entry, attr dwarf.Attr) gotypes.ID {
	off, ok := e.Val(attr).(dwarf.Offset)
	if !ok {
		return 0
	}
	if id, ok := r.ids[off]; ok {
		return id
	}
	t := r.at(off)
	name, _ := t.Val(dwarf.AttrName).(string)
	if strings.HasPrefix(name, ".param") && t.Tag == dwarf.TagTypedef { // a type parameter: its shape
		id := r.ref(t, dwarf.AttrType)
		r.ids[off] = id
		return id
	}
	id := gotypes.ID(len(r.info.Types))
	r.ids[off] = id
	r.info.Types = append(r.info.Types, gotypes.Desc{}) // its parts may refer to it
	x := gotypes.Desc{Kind: reflect.Interface, Size: 16}
	if body, iface := r.underlying(t); !iface {
		x = r.describe(name, t, body)
	}
	x.Name = asRuntime(name)
	place, _ := t.Val(attrGoRuntime).(uint64)
	x.Runtime = uint32(place)
	r.info.Types[id] = x
	return id
}

// asRuntime returns the name as the runtime's description has it. What follows from other types is left
// out, and there are no paths where the runtime has none.
func asRuntime(name string) string {
	for _, begin := range [...]string{"*", "[", "map[", "chan ", "struct {"} {
		if strings.HasPrefix(name, begin) {
			return ""
		}
	}
	for _, begin := range [...]string{"func(", "interface {", "<-chan ", "chan<- "} {
		if strings.HasPrefix(name, begin) {
			return gotypes.Short(name)
		}
	}
	return name
}

// underlying returns what a type is a name of, and whether that is an interface.
func (r *typeReader) underlying(t *dwarf.Entry) (body *dwarf.Entry, iface bool) {
	for body = t; body.Tag == dwarf.TagTypedef; {
		under, ok := body.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			break
		}
		body = r.at(under)
		of, _ := body.Val(dwarf.AttrName).(string)
		iface = iface || of == "runtime.iface" || of == "runtime.eface"
	}
	return body, iface
}

// describe reads a type; t is its entry, body what it is a name of.
func (r *typeReader) describe(name string, t, body *dwarf.Entry) gotypes.Desc {
	kind, ok := t.Val(attrGoKind).(int64)
	if !ok {
		kind, _ = body.Val(attrGoKind).(int64)
	}
	x := gotypes.Desc{Name: name, Kind: reflect.Kind(kind)}
	if size, ok := body.Val(dwarf.AttrByteSize).(int64); ok {
		x.Size = int(size)
	}
	switch {
	case name == "unsafe.Pointer":
		x.Kind = reflect.UnsafePointer
	case body.Tag == dwarf.TagSubroutineType:
		x.Kind = reflect.Func
	case x.Kind == reflect.Pointer || x.Kind == reflect.Invalid && body.Tag == dwarf.TagPointerType:
		x.Kind = reflect.Pointer
		x.Elem = r.ref(body, dwarf.AttrType)
	case x.Kind == reflect.Array:
		x.Elem = r.ref(body, dwarf.AttrType)
		r.children(body, func(c *dwarf.Entry) {
			if n, ok := c.Val(dwarf.AttrCount).(int64); ok {
				x.Len = int(n)
			}
		})
	case x.Kind == reflect.Slice || x.Kind == reflect.Chan:
		x.Elem = r.ref(body, attrGoElem)
		if x.Elem == 0 {
			x.Elem = r.ref(t, attrGoElem)
		}
	case x.Kind == reflect.Map:
		x.Key, x.Elem = r.ref(t, attrGoKey), r.ref(t, attrGoElem)
	case x.Kind == reflect.Struct || x.Kind == reflect.Invalid && body.Tag == dwarf.TagStructType:
		x.Kind = reflect.Struct
		r.children(body, func(c *dwarf.Entry) {
			if c.Tag != dwarf.TagMember {
				return
			}
			fname, _ := c.Val(dwarf.AttrName).(string)
			off, _ := c.Val(dwarf.AttrDataMemberLoc).(int64)
			x.Fields = append(x.Fields, gotypes.Field{Name: fname, Type: r.ref(c, dwarf.AttrType), Offset: int(off)})
		})
	}
	return x
}

// children calls f for the entries in one.
func (r *typeReader) children(e *dwarf.Entry, f func(*dwarf.Entry)) {
	if !e.Children {
		return
	}
	reader := r.d.Reader()
	reader.Seek(e.Offset)
	reader.Next()
	for {
		c, err := reader.Next()
		if err != nil || c == nil || c.Tag == 0 {
			r.err = cmp.Or(r.err, err)
			return
		}
		f(c)
		if c.Children {
			reader.SkipChildren()
		}
	}
}
