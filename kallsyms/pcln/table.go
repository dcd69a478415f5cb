package pcln

import (
	"encoding/binary"
	"strings"
	"syscall"
	"unsafe"

	"sonde/kernel/refusal"
)

// ErrFormat says that there is no pclntab, or one of a Go version with another layout.
var ErrFormat = refusal.New(syscall.EINVAL, "not a pclntab that this kernel can read")

// The header, by the versions of Go that write it.
const (
	magic118   = 0xfffffff0
	magic120   = 0xfffffff1 // and later
	headerSize = 72
)

// Table is the pclntab of an image. It is immutable; all that it returns points into it.
type Table struct {
	text   uint64
	n      int
	nfiles uint64
	record int    // bytes of a function's record, in front of its pcdata
	names  string // strings, so that a name is a part of them
	files  string
	units  []byte
	steps  []byte
	funcs  []byte // the list, and the records
	data   []byte // funcdata: the symbol go:func.*
}

// Load reads a pclntab, which must not change any more. text is where Go's code begins (runtime.text);
// TextOf may know it. data is what is at go:func.*, to which functions refer; without it there are no
// copies.
//
// Errors: ErrFormat.
func Load(tab, data []byte, text uint64) (*Table, error) {
	if len(tab) < headerSize || tab[6] != 1 || tab[7] != 8 {
		return nil, ErrFormat
	}
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(tab[off:]) }
	t := &Table{text: text, data: data, record: recSize}
	switch binary.LittleEndian.Uint32(tab) {
	case magic118:
		t.record -= 4 // it has no first line
	case magic120:
	default:
		return nil, ErrFormat
	}
	var names, files []byte
	for i, part := range []*[]byte{&names, &t.units, &files, &t.steps, &t.funcs} {
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
	t.names, t.files = unchanged(names), unchanged(files)
	return t, nil
}

// unchanged is a string without a copy. Safe because: Load's caller does not change it.
func unchanged(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// TextOf returns where Go's code begins if the header of a pclntab says it, or 0: it does not in
// programs that can be moved.
func TextOf(tab []byte) uint64 {
	if len(tab) < headerSize {
		return 0
	}
	return binary.LittleEndian.Uint64(tab[24:])
}

// Len returns how many functions there are.
func (t *Table) Len() int { return t.n }

// Func returns function i, in the order of addresses.
func (t *Table) Func(i int) Func {
	off := u32(t.funcs, 8*i+4)
	return Func{t: t, Addr: t.entry(i), End: t.entry(i + 1), record: from(t.funcs, off)}
}

// At returns the function that addr lies in.
//
// Context: any.
func (t *Table) At(addr uint64) (Func, bool) {
	low, high := 0, t.n
	for low < high {
		if middle := (low + high) / 2; t.entry(middle) <= addr {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 || addr >= t.entry(low) {
		return Func{}, false
	}
	return t.Func(low - 1), true
}

// Recovers returns where functions continue after a panic from which they have recovered.
//
// Errors: ErrFormat a function's record is not there.
func (t *Table) Recovers() (found []uint64, err error) {
	for i := range t.n {
		f := t.Func(i)
		if len(f.record) < t.record {
			return nil, ErrFormat
		}
		if addr := f.Recovers(); addr != 0 {
			found = append(found, addr)
		}
	}
	return found, nil
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

// maxText bounds names: what is no table could have one that is as long as the file, many times.
const maxText = 16 << 10

// text returns the string at an offset, which ends with a zero byte.
func text(all string, off uint32) string {
	all = all[min(uint64(off), uint64(len(all))):]
	all = all[:min(len(all), maxText+1)]
	if end := strings.IndexByte(all, 0); end >= 0 {
		return all[:end]
	}
	return ""
}
