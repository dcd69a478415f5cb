package program

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"sonde/kernel/abi"
)

// object is what an ELF file says of its parts.
//
// Rejected: debug/elf. It brings zlib and zstd, whose tables are built at boot, whether or not a program is ever
// looked at, and makes the image 8 KB larger.
type object struct {
	file     io.ReaderAt
	sections []section
	segments []abi.ELFSegment
}

// Numbers of the format.
// Source: System V ABI, "Object Files"; its AMD64 supplement.
const (
	sectionHeader = 64
	symbolSize    = 24

	secSymbols    = 2
	secNoBits     = 8
	secDynamic    = 11
	secAlloc      = 1 << 1
	secCompressed = 1 << 11

	symFunc      = 2
	symIndirect  = 10 // STT_GNU_IFUNC
	symUndefined = 0  // the section of symbols that are elsewhere
)

// section is an entry of the section header table.
type section struct {
	nameAt, kind                   uint32
	flags, addr, off, size, linked uint64
	name                           string
}

// symbol is an entry of a symbol table.
type symbol struct {
	name        string
	kind        uint8
	local       bool
	section     uint16
	value, size uint64
}

var le = binary.LittleEndian

// readObject reads the headers of an ELF file for this machine.
func readObject(r io.ReaderAt) (*object, error) {
	o := &object{file: r}
	b, err := o.read(0, abi.ELFHeaderSize)
	if err != nil {
		return nil, err
	}
	var h abi.ELFHeader
	copy(abi.Bytes(&h), b)
	switch {
	case string(h.Ident[:4]) != "\x7fELF":
		return nil, errors.New("not an ELF file")
	case string(h.Ident[:7]) != string(abi.ELFIdent[:7]):
		return nil, errors.New("not an ELF file of 64 bits, little-endian, version 1")
	case h.Machine != abi.EM_X86_64:
		return nil, fmt.Errorf("for another processor: machine %d, not %d (x86-64)", h.Machine, abi.EM_X86_64)
	}
	if err := o.readSegments(h.Phoff, h.Phentsize, uint64(h.Phnum)); err != nil {
		return nil, err
	}
	return o, o.readSections(h.Shoff, h.Shentsize, uint64(h.Shnum), uint64(h.SectionNames))
}

// maxRead is more than any part of a program has, in bytes, maxName more than any name, and maxSymbols more than
// any table. A file may say what it likes, and can have more bytes than there is memory.
const (
	maxRead    = 32 << 20
	maxName    = 16 << 10
	maxSymbols = 1 << 19
)

// read returns n bytes from off. It takes no more memory than the file has bytes, whatever n is.
func (o *object) read(off, n uint64) ([]byte, error) {
	const most = 1 << 62
	if off > most || n > maxRead {
		return nil, fmt.Errorf("%d bytes at %#x are more than any program has", n, off)
	}
	r := io.NewSectionReader(o.file, int64(off), int64(n))
	if last := make([]byte, 1); n > 0 {
		if got, _ := r.ReadAt(last, int64(n)-1); got == 0 {
			return nil, fmt.Errorf("the file ends within the %d bytes at %#x", n, off)
		}
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

func (o *object) readSegments(off uint64, size uint16, n uint64) error {
	if n == 0 {
		return nil
	}
	if size != abi.ELFSegmentSize {
		return fmt.Errorf("program headers of %d bytes, not %d", size, abi.ELFSegmentSize)
	}
	b, err := o.read(off, n*abi.ELFSegmentSize)
	for ; len(b) >= abi.ELFSegmentSize; b = b[abi.ELFSegmentSize:] {
		var s abi.ELFSegment
		copy(abi.Bytes(&s), b)
		o.segments = append(o.segments, s)
	}
	return err
}

// readSections reads the table of sections, which a file need not have. names is the
// section that has their names.
func (o *object) readSections(off uint64, size uint16, n, names uint64) error {
	if off == 0 {
		return nil
	}
	if size != sectionHeader {
		return fmt.Errorf("section headers of %d bytes, not %d", size, sectionHeader)
	}
	b, err := o.read(off, n*sectionHeader)
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[sectionHeader:] {
		o.sections = append(o.sections, section{
			nameAt: le.Uint32(b), kind: le.Uint32(b[4:]), flags: le.Uint64(b[8:]), addr: le.Uint64(b[16:]),
			off: le.Uint64(b[24:]), size: le.Uint64(b[32:]), linked: uint64(le.Uint32(b[40:])),
		})
	}
	text := o.strings(names)
	for i := range o.sections {
		o.sections[i].name = stringAt(text, o.sections[i].nameAt)
	}
	return nil
}

// section returns the first of that name; nil if there is none.
func (o *object) section(name string) *section {
	for i := range o.sections {
		if o.sections[i].name == name {
			return &o.sections[i]
		}
	}
	return nil
}

// data returns the contents of s; nil if they are not in the file, or compressed.
func (o *object) data(s *section) []byte {
	if s == nil || s.kind == secNoBits || s.flags&secCompressed != 0 {
		return nil
	}
	b, err := o.read(s.off, s.size)
	if err != nil {
		return nil
	}
	return b
}

// strings returns the contents of section n, which are strings that end with zeroes.
func (o *object) strings(n uint64) string {
	if n >= uint64(len(o.sections)) {
		return ""
	}
	return string(o.data(&o.sections[n]))
}

// stringAt returns the string that begins at off; it is a part of all. "": there is none, or it is too long.
func stringAt(all string, off uint32) string {
	if uint64(off) >= uint64(len(all)) {
		return ""
	}
	rest := all[off:]
	s, _, _ := strings.Cut(rest[:min(len(rest), maxName+1)], "\x00")
	if len(s) > maxName {
		return ""
	}
	return s
}

// symbols returns the symbols of the first table of that kind.
func (o *object) symbols(kind uint32) (all []symbol) {
	for i := range o.sections {
		s := &o.sections[i]
		if s.kind != kind {
			continue
		}
		names := o.strings(s.linked)
		b := o.data(s)
		b = b[:min(len(b), maxSymbols*symbolSize)]
		all = make([]symbol, 0, len(b)/symbolSize)
		for ; len(b) >= symbolSize; b = b[symbolSize:] {
			all = append(all, symbol{
				name: stringAt(names, le.Uint32(b)), kind: b[4] & 15, local: b[4]>>4 == 0,
				section: le.Uint16(b[6:]), value: le.Uint64(b[8:]), size: le.Uint64(b[16:]),
			})
		}
		return all
	}
	return nil
}
