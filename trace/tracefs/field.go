package tracefs

import (
	"fmt"
	"strconv"
	"strings"
)

// A field is part of a record, as the file format describes it.
type field struct {
	name, ctype  string
	offset, size int
	signed       bool
	count        int // elements of an array of numbers; 0: it is none
	text         bool
	loc          bool // the record has 65536 times the text's length, and where it is
	at, room     int  // of a text: where it is in the record, and how many bytes it can have
	base         byte // how a number is printed, as fetch types begin: u, s, x, c or p (a symbol)
}

// common are the fields that all records have.
var common = []field{
	{name: "common_type", ctype: "unsigned short", offset: 0, size: 2, base: 'u'},
	{name: "common_flags", ctype: "unsigned char", offset: 2, size: 1, base: 'u'},
	{name: "common_preempt_count", ctype: "unsigned char", offset: 3, size: 1, base: 'u'},
	{name: "common_pid", ctype: "int", offset: 4, size: 4, signed: true, base: 's'},
}

// commonSize is where an event's own fields begin.
const commonSize = 8

// longestText is how many bytes a text may have that a tracepoint has no fixed room for.
const longestText = 256

// ofFormat reads the fields of a tracepoint, without those that all have, and how it is printed.
func ofFormat(text string, size int) (fields []field, print string) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "print fmt: "); ok {
			print = strings.TrimSuffix(rest, "\n")
		}
		parts := strings.Split(strings.TrimSpace(line), ";\t")
		decl, ok := strings.CutPrefix(parts[0], "field:")
		if !ok || len(parts) != 4 || strings.Contains(decl, " common_") {
			continue
		}
		fields = append(fields, ofLine(decl, parts[1:]))
	}
	end := 0
	for _, f := range fields {
		end = max(end, f.offset+f.size)
	}
	for i := range fields {
		if f := &fields[i]; f.loc { // tracepoints have one such text, after their fields
			f.at, f.room = end, min(size-end, longestText)
		}
	}
	return fields, print
}

// ofLine reads a field: its declaration in C, its offset, its size, and whether it has a sign.
func ofLine(decl string, rest []string) field {
	var number [3]int
	for i, part := range rest {
		_, value, _ := strings.Cut(strings.TrimSuffix(part, ";"), ":")
		number[i], _ = strconv.Atoi(value)
	}
	space := strings.LastIndexByte(decl, ' ')
	f := field{ctype: decl[:space], name: decl[space+1:], offset: number[0], size: number[1], signed: number[2] != 0, base: 'u'}
	if f.signed {
		f.base = 's'
	}
	if rest, ok := strings.CutPrefix(f.ctype, "__data_loc "); ok {
		f.ctype, f.loc, f.text = rest, true, true
	} else if name, n, ok := strings.Cut(f.name, "["); ok {
		f.name = name
		if n, _ := strconv.Atoi(strings.TrimSuffix(n, "]")); f.ctype == "char" {
			f.text, f.at, f.room = true, f.offset, f.size
		} else {
			f.count = n
			f.ctype += fmt.Sprintf("[%d]", n)
		}
	}
	return f
}

// declared is how format declares the field.
func (f *field) declared() string {
	switch ctype, count, array := strings.Cut(f.ctype, "["); {
	case f.loc:
		return "__data_loc " + f.ctype + " " + f.name
	case f.text:
		return fmt.Sprintf("char %s[%d]", f.name, f.size)
	case array:
		return ctype + " " + f.name + "[" + count
	}
	return f.ctype + " " + f.name
}

// format is what the file says of an event.
func format(name string, id int, fields []field, print string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nID: %d\nformat:\n", name, id)
	line := func(f field) {
		signed := 0
		if f.signed {
			signed = 1
		}
		fmt.Fprintf(&b, "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", f.declared(), f.offset, f.size, signed)
	}
	for _, f := range common {
		line(f)
	}
	b.WriteByte('\n')
	for _, f := range fields {
		line(f)
	}
	fmt.Fprintf(&b, "\nprint fmt: %s\n", print)
	return b.String()
}
