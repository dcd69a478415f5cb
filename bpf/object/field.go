package object

import (
	"fmt"

	"sonde/bpf/btf"
)

// A field is where steps from the beginning of a type lead.
type field struct {
	of    btf.ID
	bit   uint64 // where it begins
	width uint64 // of a bit-field; 0: it is none
	steps []step
}

// A step is a member with a name, or an element.
type step struct {
	name  string
	index int    // of an element
	of    btf.ID // what it leads to
}

// follow goes from a type down: access begins with an index into an array of it, and has the index of a
// member or element for each step.
func follow(t *btf.Table, id btf.ID, access []int) (f field, why string) {
	size, _ := t.Size(id)
	f = field{of: id, bit: 8 * uint64(access[0]) * uint64(size)}
	f.steps = []step{{index: access[0], of: id}}
	for _, i := range access[1:] {
		x := t.Type(t.Underlying(f.of))
		switch {
		case f.width != 0:
			return f, "a bit-field has no parts"
		case (x.Kind == btf.Struct || x.Kind == btf.Union) && i < len(x.Members):
			m := x.Members[i]
			f.into(m)
			if m.Name != "" {
				f.steps = append(f.steps, step{name: m.Name, of: m.Type})
			}
		case x.Kind == btf.Array && (i < int(x.Count) || x.Count == 0):
			f.element(t, x, i)
		default:
			return f, fmt.Sprintf("%s has no part %d", t.Text(f.of), i)
		}
	}
	return f, ""
}

func (f *field) into(m btf.Member) {
	f.of, f.bit, f.width = m.Type, f.bit+uint64(m.Offset), uint64(m.Bits)
}

func (f *field) element(t *btf.Table, array *btf.Type, i int) {
	size, _ := t.Size(array.Of)
	f.of, f.bit = array.Of, f.bit+8*uint64(i)*uint64(size)
	f.steps = append(f.steps, step{index: i, of: f.of})
}

// match returns the access to what the relocation means in a type of the kernel, by the names of members.
func (c *core) match(r *btf.Relocation, id btf.ID) (access []int, ok bool) {
	switch r.Kind {
	case btf.TypeIDTarget, btf.TypeExists, btf.TypeMatches, btf.TypeSize:
		return r.Access, c.alike(r.Type, id, maxAlike)
	case btf.ValueExists, btf.ValueNumber:
		local := c.local.Type(c.local.Underlying(r.Type))
		x := c.kernel.Type(c.kernel.Underlying(id))
		if !isEnum(x) {
			return nil, false
		}
		for i, v := range x.Values {
			if v.Name == essential(local.Values[r.Access[0]].Name) {
				return []int{i}, true
			}
		}
		return nil, false
	}
	want, _ := follow(c.local, r.Type, r.Access)
	access = []int{want.steps[0].index}
	for _, s := range want.steps[1:] {
		x := c.kernel.Type(c.kernel.Underlying(id))
		if s.name == "" {
			if x.Kind != btf.Array || s.index >= int(x.Count) && x.Count != 0 {
				return nil, false
			}
			access, id = append(access, s.index), x.Of
			continue
		}
		path, of := memberNamed(c.kernel, id, essential(s.name), maxAlike)
		if path == nil || !c.compatible(s.of, of, maxAlike) {
			return nil, false
		}
		access, id = append(access, path...), of
	}
	return access, true
}

// memberNamed returns the way to a member, which may be in a member without a name.
func memberNamed(t *btf.Table, id btf.ID, name string, depth int) (path []int, of btf.ID) {
	x := t.Type(t.Underlying(id))
	if depth == 0 || x.Kind != btf.Struct && x.Kind != btf.Union {
		return nil, 0
	}
	for i, m := range x.Members {
		if m.Name == name {
			return []int{i}, m.Type
		}
		if m.Name == "" {
			if path, of := memberNamed(t, m.Type, name, depth-1); path != nil {
				return append([]int{i}, path...), of
			}
		}
	}
	return nil, 0
}

// maxAlike is how deep types are compared.
const maxAlike = 32

// compatible tells whether a field of the object and one of the kernel are the same kind of thing.
func (c *core) compatible(local, kernel btf.ID, depth int) bool {
	a, b := c.local.Type(c.local.Underlying(local)), c.kernel.Type(c.kernel.Underlying(kernel))
	composite := func(x *btf.Type) bool { return x.Kind == btf.Struct || x.Kind == btf.Union }
	switch {
	case composite(a) && composite(b):
		return true
	case isEnum(a) && isEnum(b), a.Kind == btf.Fwd && b.Kind == btf.Fwd:
		return a.Name == "" || b.Name == "" || essential(a.Name) == b.Name
	case a.Kind != b.Kind:
		return false
	case a.Kind == btf.Array:
		return depth > 0 && c.compatible(a.Of, b.Of, depth-1)
	}
	return a.Kind == btf.Int || a.Kind == btf.Ptr || a.Kind == btf.Float
}

// alike tells whether two types are the same kind of type, as far as pointers and functions go.
func (c *core) alike(local, kernel btf.ID, depth int) bool {
	a, b := c.local.Type(c.local.Underlying(local)), c.kernel.Type(c.kernel.Underlying(kernel))
	if depth == 0 || a.Kind != b.Kind && !(isEnum(a) && isEnum(b)) {
		return false
	}
	switch a.Kind {
	case btf.Ptr, btf.Array:
		return c.alike(a.Of, b.Of, depth-1)
	case btf.FuncProto:
		if len(a.Params) != len(b.Params) {
			return false
		}
		for i := range a.Params {
			if !c.alike(a.Params[i].Type, b.Params[i].Type, depth-1) {
				return false
			}
		}
		return c.alike(a.Of, b.Of, depth-1)
	}
	return true
}
