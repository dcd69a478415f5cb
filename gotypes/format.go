package gotypes

import (
	"fmt"
	"syscall"

	"sonde/kernel/refusal"
)

// ErrFormat says that a blob is no table of this version, or is damaged.
var ErrFormat = refusal.New(syscall.EINVAL, "not a table of Go types")

// Limits, far beyond what a kernel has, so that a damaged table takes little memory and time.
const (
	maxIndex  = 1 << 14 // types, or strings
	maxParams = 1 << 20 // of all functions together; of anything else, too
	maxNumber = 1<<32 - 2
)

// What a reference to a type may be beside the type's number plus refTypes.
const (
	refNone  = iota // a list ends
	refNew          // the type has the next number
	refTypes        // type 0
)

// format is the one description of a table: a walk that writes it, or reads it.
type format struct {
	numbers
	m     Memory
	given *Info // what is written; its numbers of types are others than the table's

	info   Info           // as it is read
	texts  []string       // as they are met
	known  map[string]int // of a writer: where in texts, from 1 on
	ids    map[ID]ID      // of a writer: the table's numbers
	queue  []ID           // of a writer: those that the runtime does not describe, by its own numbers
	fixed  int            // the number of the first type that the runtime does not describe
	count  int            // of arguments and results
	params []Param        // empty: room for the list that is coded
	kept   []Param        // the lists, one after the other
	err    error
}

// fail keeps the first thing that is wrong.
func (f *format) fail(what string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("gotypes: "+what+": %w", append(args, ErrFormat)...)
	}
}

// failed reports whether anything is wrong, so that loops end.
func (f *format) failed() bool {
	if f.bad {
		f.fail("it is cut off, or a number is out of range")
	}
	return f.err != nil
}

// length codes how many there are of something.
func (f *format) length(n int) int {
	if n = f.number(n); n > maxParams {
		f.fail("%d of something", n)
		return 0
	}
	return n
}

// flag codes whether something is so.
func (f *format) flag(is bool) bool {
	v := 0
	if is {
		v = 1
	}
	return f.number(v) == 1
}

// ref codes a type, which a writer is given by its own number. Not ok: there is the end of a list.
func (f *format) ref(id ID) (_ ID, ok bool) {
	ref := refNew
	if n, has := f.ids[id]; has {
		ref = int(n) + refTypes
	}
	switch ref = f.number(ref); {
	case ref == refNone:
		return 0, false
	case ref > refNew:
		if ref -= refTypes; ref >= len(f.info.Types) {
			f.fail("type %d of %d", ref, len(f.info.Types))
			return 0, true
		}
		return ID(ref), true
	}
	n := f.add()
	if f.given != nil {
		f.ids[id] = n
		f.queue = append(f.queue, id)
	}
	return n, true
}

// add makes room for one more type.
func (f *format) add() (id ID) {
	if len(f.info.Types) >= maxIndex {
		f.fail("more than %d types", maxIndex)
		return 0
	}
	f.info.Types = append(f.info.Types, Desc{})
	return ID(len(f.info.Types) - 1)
}

// text codes a string: where it is met first, it is spelt.
func (f *format) text(s string) string {
	switch ref := f.number(f.known[s]); {
	case ref > len(f.texts):
		f.fail("string %d of %d", ref, len(f.texts))
		return ""
	case ref > 0:
		return f.texts[ref-1]
	case len(f.texts) >= maxIndex:
		f.fail("more than %d strings", maxIndex)
		return ""
	}
	s = f.spell(s)
	f.texts = append(f.texts, s)
	if f.given != nil {
		f.known[s] = len(f.texts)
	}
	return s
}
