package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"sonde/kallsyms"
	"sonde/kallsyms/pcln"
)

// Info describes a finished image.
type Info struct {
	Path     string
	Size     int64  // of the file, in bytes
	Entry    uint64 // 32-bit PVH entry point
	Segments []elf.ProgHeader
	Symbols  *kallsyms.Table
}

// Inspect reads a finished image back.
//
// Errors: ErrLayout, when the note or the symbol table is missing; ErrSize.
func Inspect(path string) (Info, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Info{}, fmt.Errorf("image: inspect: %w", err)
	}
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		return Info{}, fmt.Errorf("image: inspect %s: %w: %w", path, ErrLayout, err)
	}
	info := Info{Path: path, Size: int64(len(raw))}
	for _, p := range f.Progs {
		data := make([]byte, min(p.Filesz, uint64(len(raw))))
		p.ReadAt(data, 0)
		switch p.Type {
		case elf.PT_NOTE:
			if want := entryNote(0); len(data) == len(want) && bytes.HasPrefix(data, want[:16]) {
				info.Entry = binary.LittleEndian.Uint64(data[16:])
			}
		case elf.PT_LOAD:
			info.Segments = append(info.Segments, p.ProgHeader)
			if table, err := kallsyms.Load(data); err == nil {
				info.Symbols = table
			}
		}
	}
	if info.Entry == 0 || info.Symbols == nil {
		return info, fmt.Errorf("image: inspect %s: no entry note or no symbols: %w", path, ErrLayout)
	}
	return info, CheckSize(info.Size, MaxTestSize)
}

// Lines reads the table from addresses to functions and lines in an image.
//
// Errors: ErrLayout, ErrSymbol; those of reading the file.
func Lines(path string) (*pcln.Table, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := open(raw)
	if err != nil {
		return nil, err
	}
	return f.lines()
}

// String renders the image's layout, one segment per line.
func (i Info) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d bytes (limit %d), entry %#x, %d symbols\n",
		i.Path, i.Size, int64(MaxSize), i.Entry, i.Symbols.Len())
	for _, s := range i.Segments {
		flags := strings.TrimPrefix(strings.ReplaceAll(s.Flags.String(), "PF_", ""), "0x0")
		fmt.Fprintf(&b, "  %#x-%#x %-6s %7d bytes in file, %7d in memory\n",
			s.Vaddr, s.Vaddr+s.Memsz, flags, s.Filesz, s.Memsz)
	}
	return b.String()
}
