package gotypes

import (
	"fmt"
	"reflect"
	"strings"
)

// FieldAt returns which field of a type is at an offset in bytes, if it is of the type leaf: .pos.mu. owner is the innermost type with a
// name that has it. What the types of package sync are made of is not named.
func (t *Table) FieldAt(id ID, off int, leaf string) (path string, owner ID, ok bool) {
	x := t.Type(id)
	switch {
	case off == 0 && x.Name == leaf:
		return "", 0, true
	case x.Kind == reflect.Array && 0 <= off && off < x.Size:
		size := x.Size / x.Len
		path, owner, ok = t.FieldAt(x.Elem, off%size, leaf)
		return fmt.Sprintf("[%d]%s", off/size, path), owner, ok
	case x.Kind != reflect.Struct:
		return "", 0, false
	}
	for _, f := range x.Fields {
		if off < f.Offset || off >= f.Offset+t.Type(f.Type).Size {
			continue
		}
		path, owner, ok = t.FieldAt(f.Type, off-f.Offset, leaf)
		if strings.HasPrefix(x.Name, "sync.") {
			return "", owner, ok
		}
		if owner == 0 && x.named() {
			owner = id
		}
		return "." + f.Name + path, owner, ok
	}
	return "", 0, false
}

// WithField returns the structs of at least and at most so many bytes that have a field of the type leaf at an offset.
func (t *Table) WithField(off int, leaf string, least, most int) (all []ID) {
	for i := range t.info.Types {
		x := &t.info.Types[i]
		if x.Kind != reflect.Struct || !x.named() || x.Size < least || x.Size > most {
			continue
		}
		if _, _, ok := t.FieldAt(ID(i), off, leaf); ok {
			all = append(all, ID(i))
		}
	}
	return all
}

// named reports whether a struct has a name.
func (x *Desc) named() bool { return x.Name != "" && !strings.HasPrefix(x.Name, "struct {") }
