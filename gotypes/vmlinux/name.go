package vmlinux

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"sonde/gotypes"
	"sonde/kallsyms"
)

// typeNames returns C names of the types to which Go gives one, by their ids, all different.
func typeNames(t *gotypes.Table) []string {
	var ids []gotypes.ID
	var names []string
	for id := range gotypes.ID(t.Len()) {
		if x := t.Type(id); id > 0 && named(x) {
			ids, names = append(ids, id), append(names, x.Name)
		}
	}
	is := make([]string, t.Len())
	for i, name := range kallsyms.CNames(names) {
		name = short(name, i)
		if l, ok := linux[names[i]]; ok {
			name = l.name
		}
		is[ids[i]] = name
	}
	return is
}

// named reports whether a type has a name of its own: none of Go's, and none that says what it is made of.
func named(x *gotypes.Desc) bool {
	if !strings.Contains(x.Name, ".") {
		return x.Kind == reflect.Interface && x.Name == "error"
	}
	for _, begin := range [...]string{"*", "[", "map[", "chan ", "<-chan ", "chan<- ", "func(", "struct {", "interface {", "..."} {
		if strings.HasPrefix(x.Name, begin) {
			return false
		}
	}
	return x.Name != "unsafe.Pointer"
}

// partName returns a name for what a slice is made of.
func (e *encoder) partName(id gotypes.ID) string {
	x := e.t.Type(id)
	if name := e.names[id]; name != "" {
		return name
	}
	switch x.Kind {
	case reflect.Pointer:
		return "ptr_" + e.partName(x.Elem)
	case reflect.Slice:
		return "slice_" + e.partName(x.Elem)
	case reflect.Array:
		return fmt.Sprintf("array_%d_%s", x.Len, e.partName(x.Elem))
	}
	return x.Kind.String()
}

// longest is how many bytes a name in BTF may have.
const longest = 500

func cut(name string) string { return name[:min(len(name), longest)] }

// short cuts a name that is too long, and keeps it different from those of other numbers.
func short(name string, i int) string {
	if len(name) <= longest {
		return name
	}
	end := fmt.Sprintf("_%d", i)
	return name[:longest-len(end)] + end
}

// identifier returns the name of a field or an argument as C allows it.
func identifier(name string) string { return kallsyms.CName(name) }

// argument returns the name of argument or result i; those that have none are numbered.
func argument(a gotypes.Param, kind string, i int) string {
	if a.Name == "" || a.Name == "_" || a.Name[0] == '~' {
		return kind + strconv.Itoa(i)
	}
	return identifier(a.Name)
}
