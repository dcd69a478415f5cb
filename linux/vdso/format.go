package vdso

// The parts of ELF files. Package debug/elf has them, too, but with all that reads debugging
// information.
//
// Source: System V ABI, "Object Files"; LSB, "Symbol Versioning".

type header struct {
	Ident                                                    [16]byte
	Type, Machine                                            uint16
	Version                                                  uint32
	Entry, Phoff, Shoff                                      uint64
	Flags                                                    uint32
	Ehsize, Phentsize, Phnum, Shentsize, Shnum, SectionNames uint16
}

type segment struct {
	Type, Flags                                    uint32
	Offset, VAddr, PAddr, FileSize, MemSize, Align uint64
}

type section struct {
	Name, Type                uint32
	Flags, Addr, Offset, Size uint64
	Link, Info                uint32
	Align, EntrySize          uint64
}

type symbol struct {
	Name        uint32
	Info, Other uint8
	Section     uint16
	Value, Size uint64
}

// definition is Elf64_Verdef with its one Elf64_Verdaux.
type definition struct {
	Version, Flags, Index, Names uint16
	Hash, Aux, Next              uint32
	Name, NextName               uint32
}

const (
	headerSize     = 64
	segmentSize    = 56
	sectionSize    = 64
	symbolSize     = 24
	dynamicSize    = 16
	definitionSize = 28
	auxOffset      = 20 // of Elf64_Verdaux in definition

	typeDyn   = 3
	machine64 = 62

	readable, executable = 4, 1 // flags of a segment

	segLoad    = 1
	segDynamic = 2
	segNote    = 4
	segUnwind  = 0x6474e550 // PT_GNU_EH_FRAME

	secBits               = 1
	secStrings            = 3
	secHash               = 5
	secDynamic            = 6
	secNote               = 7
	secSymbols            = 11
	secVersionDefinitions = 0x6ffffffd
	secVersions           = 0x6fffffff

	allocated, instructions = 2, 4 // flags of a section

	global, weak      = 1 << 4, 2 << 4 // of a symbol's Info
	anObject, aFunc   = 1, 2
	absolute          = 0xfff1 // the section of a symbol that has none
	tagHash           = 4
	tagStrings        = 5
	tagSymbols        = 6
	tagStringsSize    = 10
	tagSymbolSize     = 11
	tagName           = 14
	tagVersions       = 0x6ffffff0
	tagDefinitions    = 0x6ffffffc
	tagDefinitionsNum = 0x6ffffffd
)
