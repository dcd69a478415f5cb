package vdso

import (
	"bytes"
	"encoding/binary"

	"sonde/kernel/abi"
)

// version is the version of the functions, as on Linux. soname is the object's name.
const (
	version = "LINUX_2.6"
	soname  = "linux-vdso.so.1"
)

// object is the object while it is made: headers, tables, names of sections, headers of sections.
// The functions lie after these.
type object struct {
	b        bytes.Buffer
	strings  bytes.Buffer // .dynstr
	names    bytes.Buffer // .shstrtab
	sections []section
	symbols  []symbol
	numbers  map[string]uint32 // of sections
}

// Object returns the bytes of the vDSO: one page. release is the kernel's version for the note, as
// LINUX_VERSION_CODE: 0x50a00 is 5.10.0.
func Object(release uint32) []byte {
	const segments = 4
	o := &object{numbers: map[string]uint32{}, sections: make([]section, 1)}
	o.strings.WriteByte(0)
	o.names.WriteByte(0)
	o.b.Write(make([]byte, abi.ELFHeaderSize+segments*abi.ELFSegmentSize))
	o.tables(release)
	sections := o.finish()
	if o.b.Len() > atClockGettime {
		panic("vdso: the tables reach into the functions")
	}
	image := append(o.b.Bytes(), bytes.Repeat([]byte{int3}, pageSize-o.b.Len())...)
	for _, f := range functions {
		copy(image[f.at:], f.code)
	}
	copy(image, abi.Bytes(&abi.ELFHeader{
		Ident: abi.ELFIdent,
		Type:  abi.ET_DYN, Machine: abi.EM_X86_64, Version: 1, Entry: atClockGettime, Phoff: abi.ELFHeaderSize, Shoff: sections,
		Ehsize: abi.ELFHeaderSize, Phentsize: abi.ELFSegmentSize, Phnum: segments,
		Shentsize: sectionSize, Shnum: uint16(len(o.sections)), SectionNames: uint16(len(o.sections) - 1),
	}))
	copy(image[abi.ELFHeaderSize:], encoded([segments]abi.ELFSegment{
		{Type: abi.PT_LOAD, Flags: abi.PF_R | abi.PF_X, FileSize: pageSize, MemSize: pageSize, Align: pageSize},
		o.segment(abi.PT_DYNAMIC, ".dynamic"),
		o.segment(abi.PT_NOTE, ".note"),
		o.segment(abi.PT_GNU_EH_FRAME, ".eh_frame_hdr"),
	}))
	return image
}

// int3 fills what is not used.
const int3 = 0xcc

// tables adds the sections that linkers and debuggers read.
func (o *object) tables(release uint32) {
	o.addSymbols()
	definitions := o.definitions()
	name := add(&o.strings, soname)
	o.section(".dynstr", section{Type: secStrings}, o.strings.Bytes())
	o.section(".dynsym", section{Type: secSymbols, EntrySize: symbolSize, Link: o.numbers[".dynstr"], Info: 1}, encoded(o.symbols))
	o.section(".hash", section{Type: secHash, EntrySize: 4, Link: o.numbers[".dynsym"]}, o.hash())
	o.section(".gnu.version", section{Type: secVersions, EntrySize: 2, Link: o.numbers[".dynsym"]}, o.versions())
	o.section(".gnu.version_d", section{Type: secVersionDefinitions, Link: o.numbers[".dynstr"], Info: numDefinitions}, definitions)
	o.section(".note", section{Type: secNote, Align: 4}, note(release))
	frame := o.section(".eh_frame", section{Type: secBits}, unwinding(o.next()))
	o.section(".eh_frame_hdr", section{Type: secBits}, unwindingIndex(o.next(), frame))
	o.section(".dynamic", section{Type: secDynamic, EntrySize: dynamicSize, Link: o.numbers[".dynstr"]}, o.dynamic(name))
}

// encoded returns v as it is in memory.
func encoded(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err) // v is of a type without a size
	}
	return b
}

// add adds a string to a table of strings, and returns its offset.
func add(b *bytes.Buffer, s string) uint32 {
	at := b.Len()
	b.WriteString(s + "\x00")
	return uint32(at)
}

// next returns where the next section will be.
func (o *object) next() int { return (o.b.Len() + 7) &^ 7 }

// section adds a section that is loaded, and returns where it is.
func (o *object) section(name string, s section, content []byte) int {
	at := o.next()
	o.b.Write(make([]byte, at-o.b.Len()))
	o.b.Write(content)
	s.Name, s.Flags, s.Addr, s.Offset, s.Size = add(&o.names, name), allocated, uint64(at), uint64(at), uint64(len(content))
	if s.Align == 0 {
		s.Align = 8
	}
	o.numbers[name] = uint32(len(o.sections))
	o.sections = append(o.sections, s)
	return at
}

// offset returns where a section is.
func (o *object) offset(name string) uint64 { return o.sections[o.numbers[name]].Offset }

// segment is the program header of a section.
func (o *object) segment(t uint32, name string) abi.ELFSegment {
	s := &o.sections[o.numbers[name]]
	return abi.ELFSegment{Type: t, Flags: abi.PF_R, Offset: s.Offset, VAddr: s.Addr, PAddr: s.Addr, FileSize: s.Size, MemSize: s.Size, Align: s.Align}
}

// finish adds the functions, the names of the sections and their headers, and returns where these
// are.
func (o *object) finish() uint64 {
	o.sections = append(o.sections, section{
		Name: add(&o.names, ".text"), Type: secBits, Flags: allocated | instructions,
		Addr: atClockGettime, Offset: atClockGettime, Size: atEnd - atClockGettime, Align: 16,
	})
	names := section{Name: add(&o.names, ".shstrtab"), Type: secStrings, Offset: uint64(o.b.Len()), Size: uint64(o.names.Len()), Align: 1}
	o.b.Write(o.names.Bytes())
	o.sections = append(o.sections, names)
	at := o.next()
	o.b.Write(make([]byte, at-o.b.Len()))
	o.b.Write(encoded(o.sections))
	return uint64(at)
}
