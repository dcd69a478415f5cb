package image

import (
	"fmt"

	"sonde/gotypes"
	"sonde/kallsyms"
)

// types packs what the DWARF of the kernel says of types. symbols is the kernel's table of symbols.
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
