// Package cfi reads .eh_frame. For each instruction of a program, this table says where the
// return address is. It also gives the beginning and end of each function; in a stripped program
// nothing else does.
//
// The tables are not trusted, because they come with the program. Whatever they contain, it
// returns an error and takes no longer than their length allows.
//
// Not read: the index .eh_frame_hdr (a table is read once, and then kept sorted), 64-bit
// lengths, and addresses relative to anything but their own position.
//
// Rejected: github.com/go-delve/delve/pkg/dwarf/frame, which is well maintained and can be
// imported alone, but panics on truncated tables.
//
// Source: DWARF 5, "Call Frame Information"; Linux Standard Base, "Exception Frames".
package cfi

import (
	"cmp"
	"errors"
	"slices"
	"sort"
)

// ErrFormat is what all errors wrap.
var ErrFormat = errors.New("cfi: not a table as described")

// Table is a program's .eh_frame.
type Table struct {
	entries []Entry // by address
}

// Entry is what the table has about one function, or a part of one.
type Entry struct {
	Begin, End uint64
	common     *common
	code       []byte
}

// common is what entries share.
type common struct {
	codeAlign uint64
	dataAlign int64
	ra        uint64
	encoding  byte // of addresses
	sized     bool // entries have augmentation data
	code      []byte
}

// Parse reads section, which stands at addr.
//
// Context: goroutine. What it returns uses section.
// Errors: ErrFormat.
func Parse(section []byte, addr uint64) (*Table, error) {
	t := &Table{}
	commons := map[int]*common{}
	r := reader{b: section, addr: addr}
	for r.left() >= 4 {
		start := r.pos
		n := int(r.uint(4))
		if n == 0 {
			continue // a terminator, or the padding of one
		}
		if n < 4 || n > r.left() {
			return nil, ErrFormat
		}
		body := reader{b: section[:r.pos+n], pos: r.pos, addr: addr}
		r.pos += n
		at := body.pos
		if id := int(body.uint(4)); id == 0 {
			commons[start] = body.common()
		} else if c := commons[at-id]; c != nil {
			t.add(body.entry(c))
		} else {
			body.bad = true
		}
		if body.bad {
			return nil, ErrFormat
		}
	}
	sort.Slice(t.entries, func(i, j int) bool { return t.entries[i].Begin < t.entries[j].Begin })
	return t, nil
}

// add adds an entry, if it is about anything: the linker leaves empty ones of code
// that it has dropped.
func (t *Table) add(e Entry) {
	if e.Begin < e.End {
		t.entries = append(t.entries, e)
	}
}

// Find returns the entry about the instruction at pc.
//
// Context: any, like all methods of a Table and an Entry.
func (t *Table) Find(pc uint64) (Entry, bool) {
	if t == nil {
		return Entry{}, false
	}
	i, ok := slices.BinarySearchFunc(t.entries, pc, func(e Entry, pc uint64) int { return cmp.Compare(e.Begin, pc) })
	if !ok {
		i--
	}
	if i < 0 || pc >= t.entries[i].End {
		return Entry{}, false
	}
	return t.entries[i], true
}

// Len returns the number of entries.
func (t *Table) Len() int { return len(t.entries) }

// common reads what entries share.
func (r *reader) common() *common {
	c := &common{}
	version := r.uint(1)
	augmentation := r.text()
	c.codeAlign = r.uleb()
	c.dataAlign = r.sleb()
	if version == 1 {
		c.ra = r.uint(1)
	} else {
		c.ra = r.uleb()
	}
	end := r.pos
	for i, a := range []byte(augmentation) {
		switch {
		case a == 'z' && i == 0:
			c.sized = true
			end = int(min(r.uleb(), uint64(r.left())))
			end += r.pos
		case a == 'R':
			c.encoding = byte(r.uint(1))
		case a == 'L':
			r.uint(1)
		case a == 'P':
			r.pointer(byte(r.uint(1)) &^ indirect)
		case a == 'S': // of a signal's frame
		case !c.sized: // unknown, and no telling how long it is
			r.bad = true
		}
	}
	if c.sized {
		r.pos = end
	}
	c.code = r.rest()
	return c
}

// entry reads one.
func (r *reader) entry(c *common) Entry {
	e := Entry{common: c}
	e.Begin = r.pointer(c.encoding)
	e.End = e.Begin + r.pointer(c.encoding&0x0f)
	if c.sized {
		r.skip(r.uleb())
	}
	e.code = r.rest()
	return e
}

// All calls f with each entry, by address, until it returns false.
func (t *Table) All(f func(Entry) bool) {
	if t == nil {
		return
	}
	for _, e := range t.entries {
		if !f(e) {
			return
		}
	}
}
