package vdso

// Parts of ELF files beyond those in kernel/abi. Package debug/elf has them, too, but with all that unpacks
// debugging information.
//
// Source: System V ABI, "Object Files"; LSB, "Symbol Versioning".

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
	sectionSize    = 64
	symbolSize     = 24
	dynamicSize    = 16
	definitionSize = 28
	auxOffset      = 20 // of Elf64_Verdaux in definition

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
