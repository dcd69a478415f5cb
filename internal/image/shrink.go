package image

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"sonde/kallsyms"
)

// shrink writes the sections that are not loaded anew, after those that are: what debuggers read is compressed.
// The names of symbols are left out, for shareNames.
func (f *elfFile) shrink() error {
	var end uint64
	for _, s := range f.sects {
		if inMemory(s) && elf.SectionType(s.Type) != elf.SHT_NOBITS {
			end = max(end, s.Off+s.Size)
		}
	}
	f.data = f.data[:end:end]
	for i, s := range f.view.Sections {
		h := &f.sects[i]
		if inMemory(*h) || s.Type == elf.SHT_NULL {
			continue
		}
		data, err := s.Data()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w: %w", s.Name, ErrLayout, err)
		case h.Off < end:
			return fmt.Errorf("%s lies among what is loaded: %w", s.Name, ErrLayout)
		case s.Name == ".strtab":
			data = nil
		case strings.HasPrefix(s.Name, ".debug_") && s.Name != ".debug_gdb_scripts":
			if data, err = compressed(data, s.Addralign); err != nil {
				return err
			}
			h.Flags, h.Addralign = h.Flags|uint64(elf.SHF_COMPRESSED), 8
		}
		h.Off, h.Size = f.appendAligned(data, max(h.Addralign, 1)), uint64(len(data))
	}
	return nil
}

func inMemory(s elf.Section64) bool { return elf.SectionFlag(s.Flags)&elf.SHF_ALLOC != 0 }

// compressed is a section as debuggers expect it with SHF_COMPRESSED.
func compressed(data []byte, align uint64) ([]byte, error) {
	var b bytes.Buffer
	err := binary.Write(&b, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(len(data)), Addralign: align})
	if err != nil {
		return nil, err
	}
	z := zlib.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// shareNames has the symbols of the file get their names from the kernel's own table, whose blob is at an offset
// of the file: so they are there once.
func (f *elfFile) shareNames(blob []byte, off uint64) {
	names := kallsyms.Names(blob)
	at := map[string]uint32{}
	for i := 1; i < len(names); {
		n := bytes.IndexByte(names[i:], 0)
		at[string(names[i:i+n])] = uint32(i)
		i += n + 1
	}
	for i, s := range f.view.Sections {
		h := &f.sects[i]
		switch {
		case s.Name == ".strtab":
			h.Off, h.Size = off+uint64(len(blob)-len(names)), uint64(len(names))
		case s.Type == elf.SHT_SYMTAB:
			for j, sym := range f.syms { // the first one of the file is none
				binary.LittleEndian.PutUint32(f.data[h.Off+uint64(j+1)*elf.Sym64Size:], at[kallsyms.Cut(sym.Name)])
			}
		}
	}
}
