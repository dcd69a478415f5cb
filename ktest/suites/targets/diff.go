package targets

import (
	"fmt"
	"reflect"
	"strings"
)

// Diff says in what r differs from was, "" if in nothing.
func (r *Result) Diff(was *Result) string {
	if *r == *was {
		return ""
	}
	var list []string
	a, b := reflect.ValueOf(r.State), reflect.ValueOf(was.State)
	for i := range a.NumField() {
		if !a.Field(i).Equal(b.Field(i)) {
			list = append(list, fmt.Sprintf("%s %#x, was %#x", a.Type().Field(i).Name, a.Field(i).Interface(), b.Field(i).Interface()))
		}
	}
	for i := range r.Mem {
		if r.Mem[i] != was.Mem[i] {
			list = append(list, fmt.Sprintf("Mem[%d] %#x, was %#x", i, r.Mem[i], was.Mem[i]))
		}
	}
	return strings.Join(list, "; ")
}
