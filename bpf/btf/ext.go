package btf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
)

// Ext is what .BTF.ext says of the code in each section of an object, by the section's name.
// Indices of instructions count from the beginning of the section.
type Ext struct {
	Funcs map[string][]FuncInfo
	Lines map[string][]bpf.Line
	Relos map[string][]Relocation
}

// FuncInfo says which function begins at an instruction.
type FuncInfo struct {
	PC   int
	Func ID // a type of kind Func
}

// RelocationKind is what an instruction's immediate or offset is set to when a program is loaded,
// by its number in the format.
type RelocationKind uint32

// The kinds of relocations.
const (
	FieldOffset RelocationKind = iota // bytes
	FieldSize                         // bytes
	FieldExists
	FieldSigned
	FieldShiftLeft  // bits, of a bit-field loaded as 64 bits
	FieldShiftRight // bits
	TypeIDLocal
	TypeIDTarget
	TypeExists
	TypeSize // bytes
	ValueExists
	ValueNumber
	TypeMatches
	numRelocations
)

// Relocation says what an instruction depends on in a type that may be different in the kernel
// (CO-RE).
type Relocation struct {
	PC     int
	Type   ID
	Access []int // from the type down: an index into an array of it, then members and elements; or a constant's index
	Kind   RelocationKind
}

const (
	extSize     = 24      // bytes of a header without relocations
	extFull     = 32      // bytes of one with them
	maxLineText = 1023    // bytes; the rest of a source line is cut off
	maxRecord   = 4 << 10 // bytes; those of Linux have 8 and 16
	maxAccess   = 64      // indices; Linux reads as many
	lineShift   = 10      // the low bits are the column
)

// ReadExt reads the section .BTF.ext that belongs to a .BTF.
//
// Errors: EINVAL, E2BIG, ENOTSUPP (524) for another version of the format. The text names the
// record, what was found, and what was wanted. data is not kept.
//
// Source: Linux, Documentation/bpf/btf.rst, ".BTF.ext section"; Documentation/bpf/llvm_reloc.rst,
// "CO-RE Relocations".
func (t *Table) ReadExt(data []byte) (*Ext, error) {
	body, err := afterHeader(data, "BTF.ext", extSize, extFull)
	if err != nil {
		return nil, err
	}
	e := &Ext{map[string][]FuncInfo{}, map[string][]bpf.Line{}, map[string][]Relocation{}}
	if err := subsection(t, body, data[8:16], functions, into(e.Funcs, readFunc)); err != nil {
		return nil, err
	}
	if err := subsection(t, body, data[16:24], lines, into(e.Lines, readLine)); err != nil {
		return nil, err
	}
	if len(data)-len(body) < extFull {
		return e, nil
	}
	return e, subsection(t, body, data[24:32], relocations, into(e.Relos, readRelocation))
}

// ReadFuncs reads the records that PROG_LOAD takes as func_info, of recordSize bytes each. They
// count instructions, not bytes.
//
// Errors: EINVAL, as ReadExt.
func (t *Table) ReadFuncs(data []byte, recordSize uint32) ([]FuncInfo, error) {
	all := map[string][]FuncInfo{}
	err := records(t, data, recordSize, 1, functions, "", into(all, readFunc))
	return all[""], err
}

// ReadLines reads the records that PROG_LOAD takes as line_info, as ReadFuncs does.
//
// Errors: EINVAL, as ReadExt.
func (t *Table) ReadLines(data []byte, recordSize uint32) ([]bpf.Line, error) {
	all := map[string][]bpf.Line{}
	err := records(t, data, recordSize, 1, lines, "", into(all, readLine))
	return all[""], err
}

// record is one kind of record.
type record struct {
	what string
	size uint32 // bytes at least
	once bool   // an instruction has at most one
}

var (
	functions   = record{"func_info", 8, true}
	lines       = record{"line_info", 16, true}
	relocations = record{"core_relo", 16, false}
)

// reader reads a record of a section, and keeps it. It returns what is wrong with it.
type reader func(t *Table, section string, pc int, c *cursor) string

// into is a reader that keeps the records of each section in all.
func into[T any](all map[string][]T, read func(t *Table, pc int, c *cursor) (T, string)) reader {
	return func(t *Table, section string, pc int, c *cursor) string {
		one, why := read(t, pc, c)
		if why == "" {
			all[section] = append(all[section], one)
		}
		return why
	}
}

// subsection reads the records of one kind: their size, and then for each section of code its
// name, their number, and they themselves. place is the offset and length of all that.
func subsection(t *Table, body, place []byte, kind record, read reader) error {
	offset, length := uint64(binary.LittleEndian.Uint32(place)), uint64(binary.LittleEndian.Uint32(place[4:]))
	if offset%4 != 0 || offset+length > uint64(len(body)) {
		return refusal.New(syscall.EINVAL, "BTF.ext: %s is at %d to %d: expected a multiple of 4, and at most %d", kind.what, offset, offset+length, len(body))
	}
	if length == 0 {
		return nil
	}
	c := cursor{body[offset : offset+length]}
	if len(c.rest) < 4 {
		return refusal.New(syscall.EINVAL, "BTF.ext: %s has %d bytes: expected at least 4", kind.what, length)
	}
	size := c.word()
	seen := map[string]bool{}
	for len(c.rest) > 0 {
		if len(c.rest) < 8 {
			return refusal.New(syscall.EINVAL, "BTF.ext: %s: %d bytes are left: expected a section's name and its number of records", kind.what, len(c.rest))
		}
		nameOff, count := c.word(), c.word()
		name, whole, ok := t.text(nameOff, maxName)
		need := uint64(count) * uint64(size)
		switch {
		case !ok || !whole || name == "" || seen[name]:
			return refusal.New(syscall.EINVAL, "BTF.ext: %s: the name of a section is %q, at offset %d: expected a name, and each once", kind.what, name, nameOff)
		case count == 0 || need > uint64(len(c.rest)):
			return refusal.New(syscall.EINVAL, "BTF.ext: %s of %s: %d records of %d bytes, but %d bytes are left: expected at least one that fits",
				kind.what, name, count, size, len(c.rest))
		}
		if err := records(t, c.rest[:need], size, 8, kind, name, read); err != nil {
			return fmt.Errorf("BTF.ext: section %s: %w", name, err)
		}
		seen[name], c.rest = true, c.rest[need:]
	}
	return nil
}

// records reads records of size bytes, of which all that is not known must be 0. unit is by how
// much their places count an instruction.
func records(t *Table, data []byte, size, unit uint32, kind record, section string, read reader) error {
	if size < kind.size || size > maxRecord || size%4 != 0 || uint64(len(data))%uint64(size) != 0 {
		return refusal.New(syscall.EINVAL, "%s: %d bytes in records of %d: expected a multiple of 4, %d or more", kind.what, len(data), size, kind.size)
	}
	last := int64(-1)
	for i := 0; len(data) > 0; i++ {
		c := cursor{data[:size]}
		place := c.word()
		if place%unit != 0 {
			return refusal.New(syscall.EINVAL, "%s %d is at byte %d: expected a multiple of %d, where an instruction begins", kind.what, i, place, unit)
		}
		pc := int64(place / unit)
		if pc < last || pc == last && kind.once {
			return refusal.New(syscall.EINVAL, "%s %d is at instruction %d, and the one before it at %d: expected them in order", kind.what, i, pc, last)
		}
		if len(bytes.Trim(data[kind.size:size], "\x00")) > 0 {
			return refusal.New(syscall.E2BIG, "%s %d, at instruction %d: the bytes behind the first %d are not known: expected 0", kind.what, i, pc, kind.size)
		}
		if why := read(t, section, int(pc), &c); why != "" {
			return refusal.New(syscall.EINVAL, "%s %d, at instruction %d: %s", kind.what, i, pc, why)
		}
		last, data = pc, data[size:]
	}
	return nil
}

func readFunc(t *Table, pc int, c *cursor) (FuncInfo, string) {
	id := ID(c.word())
	return FuncInfo{pc, id}, t.kindFault(id, "it is of", Func)
}

func readLine(t *Table, pc int, c *cursor) (bpf.Line, string) {
	fileOff, textOff, place := c.word(), c.word(), c.word()
	file, _, ok := t.text(fileOff, maxLineText)
	if !ok {
		return bpf.Line{}, fmt.Sprintf("the file's name is at offset %d, but the strings have %d bytes", fileOff, len(t.strings))
	}
	source, _, ok := t.text(textOff, maxLineText)
	if !ok {
		return bpf.Line{}, fmt.Sprintf("the line's text is at offset %d, but the strings have %d bytes", textOff, len(t.strings))
	}
	return bpf.Line{PC: pc, File: file, Number: int(place >> lineShift), Text: strings.TrimSpace(source)}, ""
}

func readRelocation(t *Table, pc int, c *cursor) (Relocation, string) {
	r := Relocation{PC: pc, Type: ID(c.word())}
	accessOff := c.word()
	r.Kind = RelocationKind(c.word())
	if r.Kind >= numRelocations {
		return r, fmt.Sprintf("its kind is %d: expected 0 to %d", r.Kind, numRelocations-1)
	}
	if r.Type == 0 {
		return r, "it is of void: expected a type"
	}
	if why := t.valueFault(r.Type, "it is of"); why != "" {
		return r, why
	}
	access, whole, ok := t.text(accessOff, maxLineText)
	if !ok || !whole {
		return r, fmt.Sprintf("the access is at offset %d, but the strings have %d bytes, and it may have %d", accessOff, len(t.strings), maxLineText)
	}
	for _, part := range strings.Split(access, ":") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || len(r.Access) == maxAccess {
			return r, fmt.Sprintf("the access is %q: expected at most %d numbers with : between them", access, maxAccess)
		}
		r.Access = append(r.Access, int(n))
	}
	return r, ""
}
