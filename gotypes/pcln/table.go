package pcln

import (
	"bytes"
	"encoding/binary"
	"sort"
	"syscall"

	"sonde/kernel/refusal"
)

// ErrFormat says that there is no pclntab, or one of a Go version with another layout.
var ErrFormat = refusal.New(syscall.EINVAL, "not a pclntab that this kernel can read")

const (
	magic      = 0xfffffff1 // Go 1.20 and later
	headerSize = 72
)

// Table is the pclntab of an image. It is immutable; all that it returns points into it.
type Table struct {
	text   uint64
	n      int
	nfiles uint64
	names  []byte
	units  []byte
	files  []byte
	steps  []byte
	funcs  []byte // the list, and the records
	data   []byte // funcdata: the symbol go:func.*
}

// Load reads a pclntab. text is where Go's code begins (runtime.text), data what is at go:func.*,
// to which functions refer.
//
// Errors: ErrFormat.
func Load(tab, data []byte, text uint64) (*Table, error) {
	if len(tab) < headerSize || binary.LittleEndian.Uint32(tab) != magic || tab[7] != 8 {
		return nil, ErrFormat
	}
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(tab[off:]) }
	t := &Table{text: text, data: data}
	for i, part := range []*[]byte{&t.names, &t.units, &t.files, &t.steps, &t.funcs} {
		off := word(32 + 8*i)
		if off > uint64(len(tab)) {
			return nil, ErrFormat
		}
		*part = tab[off:]
	}
	n := word(8)
	if n > uint64(len(t.funcs))/8 || 8*n+4 > uint64(len(t.funcs)) {
		return nil, ErrFormat
	}
	t.n, t.nfiles = int(n), word(16)
	return t, nil
}

// Len returns how many functions there are.
func (t *Table) Len() int { return t.n }

// Func returns function i, in the order of addresses.
func (t *Table) Func(i int) Func {
	off := u32(t.funcs, 8*i+4)
	return Func{t: t, Addr: t.entry(i), End: t.entry(i + 1), record: from(t.funcs, off)}
}

// At returns the function that addr lies in.
func (t *Table) At(addr uint64) (Func, bool) {
	i := sort.Search(t.n, func(i int) bool { return t.entry(i) > addr }) - 1
	if i < 0 || addr >= t.entry(i+1) {
		return Func{}, false
	}
	return t.Func(i), true
}

func (t *Table) entry(i int) uint64 { return t.text + uint64(u32(t.funcs, 8*i)) }

// name returns the name of a function.
func (t *Table) name(off uint32) string { return text(t.names, off) }

// file returns the offset of a file's name, by its number in a unit.
func (t *Table) file(unit uint32, number int32) uint32 {
	if number < 0 {
		return none
	}
	return u32(t.units, 4*(int(unit)+int(number)))
}

// none is no offset.
const none = ^uint32(0)

// u32 reads a word; what is not there is none.
func u32(b []byte, off int) uint32 {
	if off < 0 || off+4 > len(b) {
		return none
	}
	return binary.LittleEndian.Uint32(b[off:])
}

func from(b []byte, off uint32) []byte { return b[min(uint64(off), uint64(len(b))):] }

// text returns the string at an offset, which ends with a zero byte.
func text(b []byte, off uint32) string {
	b = from(b, off)
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return string(b[:end])
	}
	return ""
}
