package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"sonde/kallsyms"
)

// elfFile is an ELF file being changed: data grows at its end, the headers are
// written back last.
type elfFile struct {
	data  []byte
	head  elf.Header64
	progs []elf.Prog64
	sects []elf.Section64
	view  *elf.File // the input, for reading sections and symbols
	syms  []elf.Symbol
}

func open(raw []byte) (*elfFile, error) {
	f := &elfFile{data: slices.Clone(raw)}
	var err error
	if f.view, err = elf.NewFile(bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	v := f.view
	if v.Class != elf.ELFCLASS64 || v.Machine != elf.EM_X86_64 || v.Type != elf.ET_EXEC {
		return nil, fmt.Errorf("%v %v %v, not a static x86-64 executable: %w", v.Class, v.Machine, v.Type, ErrLayout)
	}
	if f.syms, err = v.Symbols(); err != nil {
		return nil, fmt.Errorf("linked with -s? %w: %w", ErrLayout, err)
	}
	r := bytes.NewReader(raw)
	if err = binary.Read(r, v.ByteOrder, &f.head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	f.progs = make([]elf.Prog64, f.head.Phnum)
	r.Seek(int64(f.head.Phoff), 0)
	if err = binary.Read(r, v.ByteOrder, f.progs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	f.sects = make([]elf.Section64, f.head.Shnum)
	r.Seek(int64(f.head.Shoff), 0)
	if err = binary.Read(r, v.ByteOrder, f.sects); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	if f.memoryEnd() == 0 {
		return nil, fmt.Errorf("nothing to load: %w", ErrLayout)
	}
	return f, nil
}

func (f *elfFile) symbol(name string) (elf.Symbol, error) {
	for _, s := range f.syms {
		if s.Name == name && s.Section != elf.SHN_UNDEF {
			return s, nil
		}
	}
	return elf.Symbol{}, fmt.Errorf("%s is not in the linked kernel: %w", name, ErrSymbol)
}

// section returns what is in a section, and its address.
//
// Errors: ErrLayout.
func (f *elfFile) section(name string) (data []byte, addr uint64, err error) {
	s := f.view.Section(name)
	if s == nil {
		return nil, 0, fmt.Errorf("no section %s: %w", name, ErrLayout)
	}
	if data, err = s.Data(); err != nil {
		err = fmt.Errorf("section %s: %w: %w", name, ErrLayout, err)
	}
	return data, s.Addr, err
}

// kernelSymbols returns what the kernel's own table holds.
func (f *elfFile) kernelSymbols() []kallsyms.Symbol {
	var syms []kallsyms.Symbol
	for _, s := range f.syms {
		if letter, ok := f.letter(s); ok {
			syms = append(syms, kallsyms.Symbol{Name: s.Name, Addr: s.Value, Size: s.Size, Type: letter})
		}
	}
	return syms
}

// letter returns the type that nm prints. Symbols without an address in memory
// (undefined, absolute, thread-local, debugging) are not ok.
func (f *elfFile) letter(s elf.Symbol) (letter byte, ok bool) {
	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FILE, elf.STT_SECTION, elf.STT_TLS:
		return 0, false
	}
	if s.Name == "" || s.Section == elf.SHN_UNDEF || int(s.Section) >= len(f.view.Sections) {
		return 0, false
	}
	sec := f.view.Sections[s.Section]
	switch {
	case sec.Flags&elf.SHF_ALLOC == 0:
		return 0, false
	case sec.Flags&elf.SHF_EXECINSTR != 0:
		letter = 'T'
	case sec.Type == elf.SHT_NOBITS:
		letter = 'B'
	case sec.Flags&elf.SHF_WRITE != 0:
		letter = 'D'
	default:
		letter = 'R'
	}
	if elf.ST_BIND(s.Info) == elf.STB_LOCAL {
		letter += 'a' - 'A'
	}
	return letter, true
}

// memoryEnd returns the first address after all loaded segments.
func (f *elfFile) memoryEnd() uint64 {
	var end uint64
	for _, p := range f.progs {
		if p.Type == uint32(elf.PT_LOAD) {
			end = max(end, p.Vaddr+p.Memsz)
		}
	}
	return end
}

// patch stores the words in the variable called name.
func (f *elfFile) patch(name string, words ...uint64) error {
	s, err := f.symbol(name)
	if err != nil {
		return err
	}
	if letter, _ := f.letter(s); letter|0x20 != 'd' {
		return fmt.Errorf("%s is in section type %q, not in .data: give it a non-zero initial value: %w", name, letter, ErrSymbol)
	}
	size := uint64(8 * len(words))
	sec := f.view.Sections[s.Section]
	off := s.Value - sec.Addr + sec.Offset
	if s.Size < size || s.Value < sec.Addr || off+size > uint64(len(f.data)) {
		return fmt.Errorf("%s has %d bytes, want %d: %w", name, s.Size, size, ErrSymbol)
	}
	for i, w := range words {
		binary.LittleEndian.PutUint64(f.data[off+uint64(8*i):], w)
	}
	return nil
}

// appendAligned puts b at the end of the file and returns its offset.
func (f *elfFile) appendAligned(b []byte, to uint64) uint64 {
	off := alignUp(uint64(len(f.data)), to)
	f.data = append(f.data, make([]byte, off-uint64(len(f.data)))...)
	f.data = append(f.data, b...)
	return off
}

func (f *elfFile) dropHeaders(t elf.ProgType) {
	f.progs = slices.DeleteFunc(f.progs, func(p elf.Prog64) bool { return p.Type == uint32(t) })
}

// writeHeaders puts the program headers back where they were and the section
// headers, which are in their way, at the end of the file.
func (f *elfFile) writeHeaders() error {
	end := f.head.Phoff + uint64(len(f.progs))*uint64(f.head.Phentsize)
	room := f.headerRoom()
	if end > room {
		return fmt.Errorf("%d program headers end at offset %#x, there is room to %#x: %w", len(f.progs), end, room, ErrLayout)
	}
	clear(f.data[f.head.Phoff:room])
	sections, err := binary.Append(nil, binary.LittleEndian, f.sects)
	if err != nil {
		return err
	}
	f.head.Shoff = f.appendAligned(sections, 8)
	f.head.Phnum = uint16(len(f.progs))

	for i := range f.progs {
		p := &f.progs[i]
		p.Paddr = physical(p.Vaddr) // the loader goes by these
		if p.Type == uint32(elf.PT_PHDR) {
			p.Filesz = end - f.head.Phoff
			p.Memsz = p.Filesz
		}
	}
	if _, err := binary.Encode(f.data, binary.LittleEndian, f.head); err != nil {
		return err
	}
	_, err = binary.Encode(f.data[f.head.Phoff:], binary.LittleEndian, f.progs)
	return err
}

// physical is where what is linked at addr is loaded. A kernel that is not linked in the upper half
// lies where it is linked.
func physical(addr uint64) uint64 {
	if addr >= Base {
		return addr - Base
	}
	return addr
}

// headerRoom returns the lowest file offset that a section occupies.
func (f *elfFile) headerRoom() uint64 {
	room := uint64(len(f.data))
	for _, s := range f.view.Sections {
		if s.Type != elf.SHT_NULL && s.Type != elf.SHT_NOBITS && s.FileSize > 0 {
			room = min(room, s.Offset)
		}
	}
	return room
}
