package event

import (
	"fmt"
	"slices"
	"strings"
)

// Common are the fields that all records begin with.
var Common = []Field{
	{Name: "common_type", Type: "unsigned short", Size: 2},
	{Name: "common_flags", Type: "unsigned char", Offset: 2, Size: 1},
	{Name: "common_preempt_count", Type: "unsigned char", Offset: 3, Size: 1},
	{Name: "common_pid", Type: "int", Offset: 4, Size: 4, Signed: true},
}

// Format is what the file format says of a tracepoint: its fields, without those that all have, and how it is printed.
//
// Source: Linux, Documentation/trace/events.rst, "Event formats".
func Format(name string, id int, fields []Field, print string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nID: %d\nformat:\n", name, id)
	for i, f := range slices.Concat(Common, fields) {
		if i == len(Common) {
			b.WriteByte('\n')
		}
		signed := 0
		if f.Signed {
			signed = 1
		}
		fmt.Fprintf(&b, "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", f.declared(), f.Offset, f.Size, signed)
	}
	fmt.Fprintf(&b, "\nprint fmt: %s\n", print)
	return b.String()
}

// declared is how a field is declared in C.
func (f *Field) declared() string {
	elements := ""
	if f.Count > 0 {
		elements = fmt.Sprintf("[%d]", f.Count)
	}
	switch {
	case f.Loc:
		return "__data_loc " + f.Type + elements + " " + f.Name
	case f.Text:
		return fmt.Sprintf("%s %s[%d]", f.Type, f.Name, f.Size)
	}
	return f.Type + " " + f.Name + elements
}

// printed is how Linux prints a record: a format of C, and its arguments.
func (e *Event) printed() string {
	var formats, args []string
	for _, f := range e.Fields {
		conversion, arg := "%lld", "REC->"+f.Name
		switch {
		case f.Loc:
			conversion, arg = "%s", "__get_str("+f.Name+")"
		case f.Text:
			conversion = "%s"
		case !f.Signed:
			conversion = "%llu"
		}
		formats, args = append(formats, f.Name+"="+conversion), append(args, arg)
	}
	return fmt.Sprintf("%q, %s", strings.Join(formats, " "), strings.Join(args, ", "))
}
