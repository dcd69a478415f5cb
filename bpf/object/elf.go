package object

import (
	"bytes"
	"encoding/binary"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// What is read of ELF. Source: System V ABI, "Object Files".
const (
	headerSize  = 64
	sectionSize = 64
	symbolSize  = 24
	relSize     = 16

	typeRelocatable = 1
	machineBPF      = 247

	symbolTable = 2 // kinds of sections
	strings1    = 3
	noBits      = 8
	rel         = 9
	rela        = 4

	executable = 4 // a flag of sections

	maxSections = 4096
	maxFile     = 16 << 20 // bytes
	maxZeroes   = 1 << 20  // bytes of a section that is not in the file
	maxSymbols  = 1 << 16
	maxName     = 4096 // bytes
)

// A section of the file.
type section struct {
	name       string
	kind       uint32
	flags      uint64
	size       uint64
	data       []byte // none of a section of zeroes
	link, info uint32
}

func (s *section) isCode() bool { return s.flags&executable != 0 && s.kind == 1 }

// A symbol of the file.
type symbol struct {
	name    string
	kind    uint8 // the low bits of info
	global  bool
	section int // 0: defined elsewhere; -1: in no section
	value   uint64
	size    uint64
}

// Kinds of symbols.
const (
	kindFunction = 2
	kindSection  = 3
)

// A relocation says which symbol an instruction refers to.
type relocation struct {
	offset uint64 // in its section
	kind   uint32
	symbol int
}

// file is the parts of an object file.
type file struct {
	sections []section
	symbols  []symbol
	relocs   map[int][]relocation // by the section that they change
}

func bad(format string, args ...any) error {
	return refusal.New(syscall.ENOEXEC, "object: "+format, args...)
}

// readFile takes an object file apart. Nothing is copied.
//
// Errors: ENOEXEC, with what was found where.
func readFile(data []byte) (*file, error) {
	le := binary.LittleEndian
	switch {
	case len(data) < headerSize || !bytes.HasPrefix(data, []byte("\x7fELF")):
		return nil, bad("it does not begin as an ELF file")
	case len(data) > maxFile:
		return nil, bad("%d bytes, more than %d", len(data), maxFile)
	case data[4] != 2 || data[5] != 1:
		return nil, bad("class %d, byte order %d: expected 64 bits, little-endian (clang -target bpf)", data[4], data[5])
	case le.Uint16(data[16:]) != typeRelocatable || le.Uint16(data[18:]) != machineBPF:
		return nil, bad("type %d, machine %d: expected an object file for BPF (clang -target bpf -c)", le.Uint16(data[16:]), le.Uint16(data[18:]))
	}
	at, size, n, names := le.Uint64(data[40:]), le.Uint16(data[58:]), int(le.Uint16(data[60:])), int(le.Uint16(data[62:]))
	if size != sectionSize || n == 0 || n > maxSections || at > uint64(len(data)) || uint64(n*sectionSize) > uint64(len(data))-at {
		return nil, bad("%d headers of sections at %#x, of %d bytes: expected 1 to %d of %d bytes, in the file", n, at, size, maxSections, sectionSize)
	}
	f := &file{relocs: map[int][]relocation{}}
	offsets := make([]uint32, n)
	for i := range n {
		h := data[at+uint64(i*sectionSize):]
		s := section{kind: le.Uint32(h[4:]), flags: le.Uint64(h[8:]), size: le.Uint64(h[32:]), link: le.Uint32(h[40:]), info: le.Uint32(h[44:])}
		offset := le.Uint64(h[24:])
		switch {
		case s.kind == 0:
			s.size = 0
		case s.kind == noBits:
			if s.size > maxZeroes {
				return nil, bad("section %d has %d bytes of zeroes: expected at most %d", i, s.size, maxZeroes)
			}
		case offset > uint64(len(data)) || s.size > uint64(len(data))-offset:
			return nil, bad("section %d is at %#x to %#x, and the file has %#x bytes", i, offset, offset+s.size, len(data))
		default:
			s.data = data[offset : offset+s.size]
		}
		offsets[i] = le.Uint32(h)
		f.sections = append(f.sections, s)
	}
	if names >= n {
		return nil, bad("the names of sections are in section %d, and there are %d", names, n)
	}
	for i := range f.sections {
		name, ok := text(f.sections[names].data, offsets[i])
		if !ok {
			return nil, bad("the name of section %d is at %d of %d bytes of names", i, offsets[i], f.sections[names].size)
		}
		f.sections[i].name = name
	}
	if err := f.readSymbols(); err != nil {
		return nil, err
	}
	return f, f.readRelocations()
}

// text is the string at an offset, which ends with a zero byte. Many symbols may be parts of one: it is not long.
func text(data []byte, at uint32) (string, bool) {
	if uint64(at) >= uint64(len(data)) {
		return "", at == 0 && len(data) == 0
	}
	data = data[at:]
	n := bytes.IndexByte(data[:min(len(data), maxName+1)], 0)
	if n < 0 {
		return "", false
	}
	return string(data[:n]), true
}

// readSymbols reads the table of symbols, if there is one.
func (f *file) readSymbols() error {
	le := binary.LittleEndian
	for i := range f.sections {
		s := &f.sections[i]
		if s.kind != symbolTable || f.symbols != nil {
			continue
		}
		if len(s.data)%symbolSize != 0 || int(s.link) >= len(f.sections) || f.sections[s.link].kind != strings1 {
			return bad("section %s: %d bytes of symbols, names in section %d: expected a multiple of %d, and a section of strings", s.name, len(s.data), s.link, symbolSize)
		}
		if n := len(s.data) / symbolSize; n > maxSymbols {
			return bad("%d symbols, more than %d", n, maxSymbols)
		}
		for b := s.data; len(b) > 0; b = b[symbolSize:] {
			y := symbol{kind: b[4] & 15, global: b[4]>>4 == 1, section: int(le.Uint16(b[6:])), value: le.Uint64(b[8:]), size: le.Uint64(b[16:])}
			name, ok := text(f.sections[s.link].data, le.Uint32(b))
			switch {
			case !ok:
				return bad("the name of symbol %d is not in section %s", len(f.symbols), f.sections[s.link].name)
			case y.section >= 0xff00:
				y.section = -1
			case y.section >= len(f.sections):
				return bad("symbol %s is in section %d, and there are %d", name, y.section, len(f.sections))
			case y.section > 0 && (y.value > f.sections[y.section].size || y.size > f.sections[y.section].size-y.value):
				return bad("symbol %s is at %#x, of %#x bytes: section %s has %#x", name, y.value, y.size, f.sections[y.section].name, f.sections[y.section].size)
			}
			if y.name = name; y.kind == kindSection && y.section > 0 {
				y.name = f.sections[y.section].name
			}
			f.symbols = append(f.symbols, y)
		}
	}
	return nil
}

// readRelocations reads those of code and of maps. Others, those of debug information, are left out.
func (f *file) readRelocations() error {
	le := binary.LittleEndian
	for i := range f.sections {
		s := &f.sections[i]
		if s.kind != rel && s.kind != rela || s.info == 0 || int(s.info) >= len(f.sections) {
			continue
		}
		to := &f.sections[s.info]
		if isData(to.name) {
			return bad("section %s has the addresses of others in it: they are not known before the program runs", to.name)
		}
		if !to.isCode() && to.name != mapsSection {
			continue
		}
		if s.kind == rela || len(s.data)%relSize != 0 {
			return bad("section %s, %d bytes: expected relocations without addends, of %d bytes each", s.name, len(s.data), relSize)
		}
		for b := s.data; len(b) > 0; b = b[relSize:] {
			r := relocation{offset: le.Uint64(b), kind: le.Uint32(b[8:]), symbol: int(le.Uint32(b[12:]))}
			if r.offset >= to.size || r.symbol >= len(f.symbols) {
				return bad("a relocation in %s at %#x, of symbol %d: the section has %#x bytes, and there are %d symbols", to.name, r.offset, r.symbol, to.size, len(f.symbols))
			}
			f.relocs[int(s.info)] = append(f.relocs[int(s.info)], r)
		}
	}
	return nil
}

// find returns the number of the section with a name, 0 if there is none.
func (f *file) find(name string) int {
	for i := range f.sections {
		if i > 0 && f.sections[i].name == name {
			return i
		}
	}
	return 0
}

// isData tells whether a section's variables are a map's value, by its name.
func isData(name string) bool {
	for _, kind := range []string{".data", ".rodata", ".bss"} {
		if name == kind || strings.HasPrefix(name, kind+".") {
			return true
		}
	}
	return false
}
