package image

import (
	"fmt"

	"sonde/gotypes"
	"sonde/kallsyms"
)

// appendTypes puts the table of types after blob, which will be at addr, and its place in the variable
// called name. A kernel without the variable gets none. symbols is the kernel's table of symbols.
func (f *elfFile) appendTypes(blob []byte, addr uint64, name string, symbols []byte) ([]byte, error) {
	if _, err := f.symbol(name); err != nil {
		return blob, nil
	}
	table, err := f.types(symbols)
	if err != nil {
		return nil, err
	}
	return append(blob, table...), f.patch(name, addr+uint64(len(blob)), uint64(len(table)))
}

// types packs what the DWARF of the kernel says of types.
func (f *elfFile) types(symbols []byte) ([]byte, error) {
	d, err := f.view.DWARF()
	if err != nil {
		return nil, fmt.Errorf("types: %w: %w", ErrLayout, err)
	}
	info, of, err := readTypes(d)
	if err != nil {
		return nil, err
	}
	syms, err := kallsyms.Load(symbols)
	if err != nil {
		return nil, err
	}
	if err := f.copies(d, info, of, syms); err != nil {
		return nil, err
	}
	m, err := f.typeMemory()
	if err != nil {
		return nil, err
	}
	return gotypes.Encode(info, gotypes.Entries(syms), m)
}

// typeMemory returns what the runtime knows of types.
func (f *elfFile) typeMemory() (m gotypes.Memory, err error) {
	begin, err := f.symbol("runtime.types")
	if err != nil {
		return m, err
	}
	end, err := f.symbol("runtime.etypes")
	if err != nil {
		return m, err
	}
	for _, s := range f.view.Sections {
		if s.Addr <= begin.Value && begin.Value <= end.Value && end.Value <= s.Addr+s.Size {
			data := make([]byte, end.Value-begin.Value)
			_, err = s.ReadAt(data, int64(begin.Value-s.Addr))
			return gotypes.Memory{Base: begin.Value, Data: string(data)}, err
		}
	}
	return m, fmt.Errorf("runtime.types and runtime.etypes are in no section: %w", ErrLayout)
}
