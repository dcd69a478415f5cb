package gotypes

import (
	"fmt"
	"math/bits"
	"syscall"

	"sonde/gotypes/squeeze"
	"sonde/kernel/refusal"
)

// ErrFormat says that a blob is no table of this version, or is damaged.
var ErrFormat = refusal.New(syscall.EINVAL, "not a table of Go types")

// The columns of a table: numbers of one kind.
const (
	colLetter   = iota // of strings
	colPlaces          // distances between the runtime's descriptions
	colHas             // whether something is known of a function
	colReceiver        // whether its first argument has the type that its name says
	colArg             // types of arguments
	colArgName
	colResult
	colResultName
	colVar // types of variables
	colGap // distances between them
	colKind
	colPath // of packages in types' names
	colName
	colElem  // types in types
	colCount // lengths of arrays and structs
	colField
	colFieldName
	colCopy  // distances between functions that have copies whose arguments are known
	colKnown // whether something is known of a copy
	colSpot  // what places of arguments are
	colReg
	colSlot // of the stack
)

// Limits, far beyond what a kernel has, so that a damaged table takes little memory and time.
const (
	maxIndex  = 1<<14 - 4 // types, or strings
	maxParams = 1 << 20   // of all functions together; of anything else, too
	maxText   = 1 << 12   // bytes of a string
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
	*squeeze.Coder
	m     Memory
	given *Info // what is written; its numbers of types are others than the table's

	info   Info           // as it is read
	named  map[string]ID  // the types that the runtime describes
	texts  []string       // as they are met
	known  map[string]int // where in texts
	ids    map[ID]ID      // of a writer: the table's numbers
	queue  []ID           // of a writer: those that the runtime does not describe, by its own numbers
	fixed  int            // the number of the first type that the runtime does not describe
	count  int            // of arguments and results
	params []Param        // those of the list that is coded
	spelt  history
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
	if f.Ended() {
		f.fail("it is cut off")
	}
	return f.err != nil
}

// number codes a number.
func (f *format) number(v, column int, contexts ...uint32) int {
	if v < 0 || v > maxNumber {
		f.fail("%d in column %d", v, column)
		v = 0
	}
	return int(f.Number(uint32(v), column, contexts...))
}

// width is how many bits numbers up to n have.
func width(n int) int { return bits.Len(uint(n)) }

// length codes how many there are of something.
func (f *format) length(n int) int {
	if n = f.number(n, colCount); n > maxParams {
		f.fail("%d of something", n)
		return 0
	}
	return n
}

// flag codes whether something is so.
func (f *format) flag(is bool, column int, contexts ...uint32) bool {
	v := uint32(0)
	if is {
		v = 1
	}
	return f.Index(v, 1, column, contexts...) == 1
}

// end codes that a list ends.
func (f *format) end(column int, contexts ...uint32) {
	f.Index(refNone, width(len(f.info.Types)+refTypes), column, contexts...)
}

// ref codes a type, which a writer is given by its own number. Not ok: there is the end of a list.
func (f *format) ref(id ID, column int, contexts ...uint32) (_ ID, ok bool) {
	ref := uint32(refNew)
	if n, has := f.ids[id]; has {
		ref = uint32(n) + refTypes
	}
	switch ref = f.Index(ref, width(len(f.info.Types)+refTypes), column, contexts...); {
	case ref == refNone:
		return 0, false
	case ref > refNew:
		if ref -= refTypes; int(ref) >= len(f.info.Types) {
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

// text codes a string, and returns its number, too: where it is met first, it is spelt.
func (f *format) text(s string, column int, contexts ...uint32) (string, uint32) {
	ref := uint32(0)
	if n, has := f.known[s]; has {
		ref = uint32(n) + 1
	}
	switch ref = f.Index(ref, width(len(f.texts)), column, contexts...); {
	case int(ref) > len(f.texts):
		f.fail("string %d of %d", ref, len(f.texts))
		return "", 0
	case ref > 0:
		return f.texts[ref-1], ref
	case len(f.texts) >= maxIndex:
		f.fail("more than %d strings", maxIndex)
		return "", 0
	}
	s = f.spell(s)
	f.learn(s)
	return s, ref
}

// learn gives a string that has none a number.
func (f *format) learn(s string) {
	if _, has := f.known[s]; !has && len(f.texts) < maxIndex {
		f.known[s] = len(f.texts)
		f.texts = append(f.texts, s)
	}
}

// history is what the letters before tell of the next one.
type history struct{ one, two, four, word uint32 }

func (h *history) note(b uint32) {
	h.four = h.four<<8 | b
	h.two = h.one<<8 | b
	h.one = b
	if h.word = squeeze.Hash(h.word, b); b < 'a' || b > 'z' {
		h.word = b
	}
}

// spell codes the letters of a string, and a zero byte.
func (f *format) spell(s string) string {
	var b []byte
	for i := 0; i <= maxText && !f.failed(); i++ {
		c := uint32(0)
		if i < len(s) {
			c = uint32(s[i])
		}
		h := &f.spelt
		c = f.Index(c, 8, colLetter, h.one, h.two, h.word, h.four)
		h.note(c)
		if c == 0 {
			return string(b)
		}
		b = append(b, byte(c))
	}
	f.fail("a string of more than %d bytes", maxText)
	return ""
}
