package image

import (
	"debug/elf"

	"sonde/kallsyms/entries"
)

// entries packs the addresses inside functions that others lead to.
func (f *elfFile) entries() ([]byte, error) {
	code, text, err := f.section(".text")
	if err != nil {
		return nil, err
	}
	table, err := f.lines()
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
	return entries.Encode(append(found, entries.Find(code, text, f.functions())...))
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
