package ctypes

import (
	"encoding/binary"
	"errors"
)

// Package debug/dwarf makes room for as much as a file says that it has. What is checked here is checked before.

const (
	maxUnits   = 1 << 16
	maxAbbrevs = 8 << 20 // bytes of abbreviations
	maxFiles   = 1 << 16 // directories or files of a unit's lines
)

var (
	errUnits   = errors.New("it has too many units")
	errAbbrevs = errors.New("it has too many abbreviations")
	errFiles   = errors.New("its lines are of too many files")
)

// cursor reads numbers. What is not there is 0.
type cursor struct {
	b     []byte
	wide  bool // offsets have 8 bytes
	ended bool
}

func (c *cursor) take(n uint64) (b []byte) {
	if n > uint64(len(c.b)) {
		c.b, c.ended = nil, true
		return nil
	}
	b, c.b = c.b[:n], c.b[n:]
	return b
}

func (c *cursor) uint(bytes uint64) uint64 {
	var all [8]byte
	copy(all[:], c.take(bytes))
	return binary.LittleEndian.Uint64(all[:])
}

func (c *cursor) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := c.uint(1)
		if shift < 64 {
			v |= b & 0x7f << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

// text reads over a string, and tells whether it has any letters.
func (c *cursor) text() (some bool) {
	for c.uint(1) != 0 {
		some = true
	}
	return some
}

func (c *cursor) offset() uint64 {
	if c.wide {
		return c.uint(8)
	}
	return c.uint(4)
}

// unit reads a length, and returns what has it.
func (c *cursor) unit() *cursor {
	n := c.uint(4)
	wide := n == 0xffffffff
	if wide {
		n = c.uint(8)
	}
	return &cursor{b: c.take(n), wide: wide}
}

// checkUnits counts units, and refuses tables of abbreviations that overlap.
func checkUnits(info, abbrev []byte) error {
	if len(abbrev) > maxAbbrevs {
		return errAbbrevs
	}
	tables, size, units := map[uint64]bool{}, 0, 0
	for c := (cursor{b: info}); len(c.b) > 0; units++ {
		u := c.unit()
		if units == maxUnits {
			return errUnits
		}
		if u.uint(2) >= 5 {
			u.take(2)
		}
		at := u.offset()
		if tables[at] || at > uint64(len(abbrev)) {
			continue
		}
		tables[at] = true
		if size += tableSize(abbrev[at:]); size > len(abbrev) {
			return errAbbrevs
		}
	}
	return nil
}

// tableSize is how many bytes a table of abbreviations has.
func tableSize(b []byte) int {
	const implicit = 0x21 // DW_FORM_implicit_const: its value follows
	c := cursor{b: b}
	for c.uleb() != 0 {
		c.uleb()
		c.uint(1)
		for {
			attr, form := c.uleb(), c.uleb()
			if attr == 0 && form == 0 {
				break
			}
			if form == implicit {
				c.uleb()
			}
		}
	}
	return len(b) - len(c.b)
}

// countFiles returns how many directories and files a unit's table of lines has. What else is wrong in its
// header, debug/dwarf finds.
//
// Source: DWARF 5, §6.2.4; DWARF 4, §6.2.4.
func countFiles(lines []byte) (int, error) {
	c := (&cursor{b: lines}).unit()
	version := c.uint(2)
	if version >= 5 {
		c.take(2)
	}
	c.offset()
	if c.take(4); version >= 4 {
		c.take(1)
	}
	if opcodes := c.uint(1); opcodes > 0 {
		c.take(opcodes - 1)
	}
	list := c.oldList
	if version >= 5 {
		list = c.list
	}
	total := 0
	for _, file := range []bool{false, true} {
		n, err := list(file)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// oldList counts names up to an empty one.
func (c *cursor) oldList(file bool) (n int, err error) {
	for ; c.text(); n++ {
		if n == maxFiles {
			return n, errFiles
		}
		if file { // its directory, time and size
			c.uleb()
			c.uleb()
			c.uleb()
		}
	}
	return n, nil
}

// list reads over the entries of DWARF 5: what each has, how many there are, and they themselves.
func (c *cursor) list(bool) (int, error) {
	var forms []uint64
	for range c.uint(1) {
		c.uleb()
		forms = append(forms, c.uleb())
	}
	n := c.uleb()
	if n > maxFiles {
		return 0, errFiles
	}
	for range n {
		for _, form := range forms {
			c.skip(form)
		}
	}
	return int(n), nil
}

// fixed are the forms that always have as many bytes.
var fixed = map[uint64]uint64{0x05: 2, 0x06: 4, 0x07: 8, 0x0b: 1, 0x1e: 16, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4}

// skip reads over a value of a form.
func (c *cursor) skip(form uint64) {
	switch form {
	case 0x08: // string
		c.text()
	case 0x0e, 0x1d, 0x1f: // strp, strp_sup, line_strp
		c.offset()
	case 0x0f, 0x1a: // udata, strx
		c.uleb()
	case 0x09: // block
		c.take(c.uleb())
	default:
		c.take(fixed[form])
	}
}
