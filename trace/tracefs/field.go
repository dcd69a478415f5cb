package tracefs

import tracepoints "sonde/probe/event"

// A field is part of a record, as the file format describes it, and how its value is found and printed.
type field struct {
	tracepoints.Field
	text     bool
	at, room int  // of a text: where it is in the record, and how many bytes it can have
	base     byte // how a number is printed, as fetch types begin: u, s, x, c or p (a symbol)
}

// commonSize is where an event's own fields begin.
const commonSize = 8

// longestText is how many bytes a text may have that a tracepoint has no fixed room for.
const longestText = 256

// common are the fields that all records have.
var common = ofTracepoint(tracepoints.Common, commonSize)

// ofTracepoint are the fields of a tracepoint's record, which has size bytes.
func ofTracepoint(all []tracepoints.Field, size int) (fields []field) {
	last := all[len(all)-1]
	end := last.Offset + last.Size
	for _, f := range all {
		of := field{Field: f, text: f.Text || f.Loc, base: 'u'}
		if f.Signed {
			of.base = 's'
		}
		if f.Text {
			of.at, of.room = f.Offset, f.Size
		} else if f.Loc { // tracepoints have one such text, after their fields
			of.at, of.room = end, min(size-end, longestText)
		}
		fields = append(fields, of)
	}
	return fields
}

// format is what the file says of an event.
func (e *event) format() string {
	var fields []tracepoints.Field
	for _, f := range e.fields {
		fields = append(fields, f.Field)
	}
	return tracepoints.Format(e.name, e.id, fields, e.print)
}
