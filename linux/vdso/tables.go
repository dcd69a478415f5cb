package vdso

// addSymbols fills in the symbol table: each function by the name that programs look up, and by its
// name in C.
func (o *object) addSymbols() {
	o.symbols = append(o.symbols, symbol{})
	for _, f := range functions {
		s := symbol{Info: global | aFunc, Section: textSection, Value: uint64(f.at), Size: uint64(len(f.code))}
		s.Name = add(&o.strings, "__vdso_"+f.name)
		o.symbols = append(o.symbols, s)
		s.Name, s.Info = add(&o.strings, f.name), weak|aFunc
		o.symbols = append(o.symbols, s)
	}
	o.symbols = append(o.symbols, symbol{Name: add(&o.strings, version), Info: global | anObject, Section: absolute})
}

// textSection is the number of the section of the functions: after those of tables.
const textSection = 10

// hash returns the hash table of the symbols, with one chain: there are few.
func (o *object) hash() []byte {
	n := uint32(len(o.symbols))
	table := []uint32{1, n, 1, 0} // buckets, symbols, the first symbol of the bucket, that after symbol 0
	for i := uint32(2); i < n; i++ {
		table = append(table, i)
	}
	return encoded(append(table, 0))
}

// hashOf is the hash of a name in an ELF file.
//
// Source: System V ABI, "Hash Table".
func hashOf(name string) (h uint32) {
	for i := range len(name) {
		h = h<<4 + uint32(name[i])
		h = (h ^ h>>28<<4) & 0x0fff_ffff
	}
	return h
}

// What is defined: the object itself, and the version of all symbols.
const (
	ofObject = 1 + iota
	ofSymbols
	numDefinitions = iota
)

func (o *object) definitions() []byte {
	const base = 1 // the flag of ofObject
	return encoded([numDefinitions]definition{
		{Version: 1, Flags: base, Index: ofObject, Names: 1, Hash: hashOf(soname), Aux: auxOffset, Next: definitionSize, Name: add(&o.strings, soname)},
		{Version: 1, Index: ofSymbols, Names: 1, Hash: hashOf(version), Aux: auxOffset, Name: add(&o.strings, version)},
	})
}

// versions returns the version of each symbol.
func (o *object) versions() []byte {
	of := make([]uint16, len(o.symbols))
	for i := range of[1:] {
		of[1+i] = ofSymbols
	}
	return encoded(of)
}

// dynamic returns the dynamic section; name is the string of the object's name.
func (o *object) dynamic(name uint32) []byte {
	return encoded([][2]uint64{
		{tagName, uint64(name)},
		{tagHash, o.offset(".hash")},
		{tagStrings, o.offset(".dynstr")},
		{tagStringsSize, uint64(o.strings.Len())},
		{tagSymbols, o.offset(".dynsym")},
		{tagSymbolSize, symbolSize},
		{tagDefinitions, o.offset(".gnu.version_d")},
		{tagDefinitionsNum, numDefinitions},
		{tagVersions, o.offset(".gnu.version")},
		{},
	})
}

// note returns the note from which older C libraries learn the kernel's version.
func note(release uint32) []byte {
	type linux struct {
		NameSize, Size, Type uint32
		Name                 [8]byte
		Release              uint32
	}
	return encoded(linux{NameSize: 6, Size: 4, Name: [8]byte{'L', 'i', 'n', 'u', 'x'}, Release: release})
}

// How pointers are encoded in the tables for unwinding: 4 bytes, signed, relative to their own
// place or to the beginning of the index.
//
// Source: LSB, "Exception Frames".
const (
	toItself = 0x1b
	toIndex  = 0x3b
	count    = 0x03 // 4 bytes, unsigned

	rulesSize = 24
)

// unwinding returns .eh_frame, which is at offset at: one rule for all functions, which are leaves
// that leave the stack alone.
//
// Source: LSB, "Exception Frames"; DWARF 4, "Structure of Call Frame Information".
func unwinding(at int) []byte {
	rules := [16]byte{
		1, 'z', 'R', 0, 1, 0x78, 16, 1, toItself, // units of code 1, of data -8; RA is register 16
		0x0c, 7, 8, // the caller's SP is register 7, plus 8
		0x90, 1, // RA is 8 below it
	}
	return encoded(struct {
		RulesSize, RulesID         uint32
		Rules                      [16]byte
		Size, ToRules              uint32
		Code, CodeSize, None, Last int32
	}{
		RulesSize: rulesSize - 4, Rules: rules,
		Size: 16, ToRules: rulesSize + 4, Code: int32(atClockGettime - (at + rulesSize + 8)), CodeSize: atEnd - atClockGettime,
	})
}

// unwindingIndex returns .eh_frame_hdr, which is at offset at: a sorted table of one entry.
func unwindingIndex(at, frame int) []byte {
	return encoded(struct {
		Encodings      [4]byte
		Frame          int32
		Entries        uint32
		Code, Location int32
	}{[4]byte{1, toItself, count, toIndex}, int32(frame - (at + 4)), 1, int32(atClockGettime - at), int32(frame + rulesSize - at)})
}
