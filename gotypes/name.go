package gotypes

import (
	"fmt"
	"reflect"
	"strings"
)

// derived returns the name that follows from what a type is made of.
func derived(types []Desc, x *Desc) string {
	switch x.Kind {
	case reflect.Pointer:
		if x.Elem == 0 {
			return "*"
		}
		return "*" + types[x.Elem].Name
	case reflect.Slice:
		return "[]" + types[x.Elem].Name
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", x.Len, types[x.Elem].Name)
	case reflect.Map:
		return "map[" + types[x.Key].Name + "]" + types[x.Elem].Name
	case reflect.Chan:
		return "chan " + types[x.Elem].Name
	case reflect.Struct, reflect.Func, reflect.Interface, reflect.Invalid:
		return ""
	}
	return x.Kind.String()
}

// nameOf returns the name of a type, which it notes if it follows from what the type is made of.
func nameOf(types []Desc, id ID, depth int) string {
	const longest = 1 << 10
	x := &types[id]
	if x.Name != "" || id == 0 || depth > maxDepth {
		return x.Name
	}
	x.Name = "..." // if it is part of itself
	for _, part := range [...]ID{x.Elem, x.Key} {
		nameOf(types, part, depth+1)
	}
	if x.Name = derived(types, x); x.Kind == reflect.Struct {
		var b strings.Builder
		for i, f := range x.Fields {
			b.WriteString([...]string{"; ", " "}[max(0, 1-i)] + f.Name + " " + nameOf(types, f.Type, depth+1))
		}
		x.Name = "struct {" + b.String() + " }"
		if len(x.Fields) == 0 {
			x.Name = "struct {}"
		}
	}
	if len(x.Name) > longest {
		x.Name = x.Name[:longest] + "..."
	}
	return x.Name
}
