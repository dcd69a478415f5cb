package image

import (
	"debug/elf"
	"fmt"

	"sonde/kallsyms/entries"
	"sonde/kallsyms/pcln"
)

// appendEntries puts the table of hidden entries after blob, which will be at
// addr, and its place in the variable called name. A kernel without the
// variable does not read the table and gets none.
func (f *elfFile) appendEntries(blob []byte, addr uint64, name string) ([]byte, error) {
	if _, err := f.symbol(name); err != nil {
		return blob, nil
	}
	found, err := f.entries()
	if err != nil {
		return nil, err
	}
	table, err := entries.Encode(found)
	if err != nil {
		return nil, err
	}
	for len(blob)%8 != 0 {
		blob = append(blob, 0)
	}
	return append(blob, table...), f.patch(name, addr+uint64(len(blob)), uint64(len(table)))
}

// entries returns the addresses inside functions that others lead to.
func (f *elfFile) entries() ([]uint64, error) {
	text, pclntab := f.view.Section(".text"), f.view.Section(".gopclntab")
	if text == nil || pclntab == nil {
		return nil, fmt.Errorf("no .text or no .gopclntab: %w", ErrLayout)
	}
	code, err := text.Data()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	lines, err := pclntab.Data()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLayout, err)
	}
	start, err := f.symbol("runtime.text")
	if err != nil {
		return nil, err
	}
	table, err := pcln.Load(lines, nil, start.Value)
	if err != nil {
		return nil, err
	}
	found, err := table.Recovers()
	if err != nil {
		return nil, err
	}
	// The runtime computes this one: proc.go, newproc1, abi.FuncPCABI0(goexit) + sys.PCQuantum.
	goexit, err := f.symbol("runtime.goexit.abi0")
	if err != nil {
		return nil, err
	}
	found = append(found, goexit.Value+1)
	return append(found, entries.Find(code, text.Addr, f.functions())...), nil
}

// functions returns the symbols of code that have a size.
func (f *elfFile) functions() (list []entries.Func) {
	for _, s := range f.syms {
		if letter, ok := f.letter(s); ok && letter|0x20 == 't' && s.Size > 0 && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			list = append(list, entries.Func{Addr: s.Value, Size: s.Size})
		}
	}
	return list
}
