package program

import (
	"fmt"

	"sonde/kallsyms/pcln"
)

// readGo reads Go's pclntab, if there is one, and adds its functions.
func (f *File) readGo() {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if data := f.elf.data(f.elf.section(name)); data != nil {
			f.gotab, _ = pcln.Load(data, nil, f.goText(data)) // what cannot be read is as if it were not there
		}
	}
	if f.gotab == nil {
		return
	}
	for i := range f.gotab.Len() {
		fn := f.gotab.Func(i)
		if name := fn.Name(); name != "" && fn.End > fn.Addr {
			f.funcs = append(f.funcs, Symbol{Name: name, Addr: fn.Addr, Size: fn.End - fn.Addr, Go: true, global: true})
		}
	}
}

// goText returns where Go's code begins: C code may be before it. Where the program can
// be moved the header does not say it, but the symbol, if there are any.
func (f *File) goText(pclntab []byte) uint64 {
	if v := pcln.TextOf(pclntab); v != 0 {
		return v
	}
	for _, s := range f.elf.symbols(secSymbols) {
		if s.name == "runtime.text" {
			return s.value
		}
	}
	if s := f.elf.section(".text"); s != nil {
		return s.addr
	}
	return 0
}

// Go reports whether the program has functions of Go.
//
// Context: any.
func (f *File) Go() bool { return f.gotab != nil }

// goFunc returns the function of Go that pc is in, and its flags.
func (f *File) goFunc(pc uint64) (fn pcln.Func, flags uint8, ok bool) {
	if f.gotab == nil {
		return fn, 0, false
	}
	if fn, ok = f.gotab.At(pc); ok {
		flags, ok = fn.Flags()
	}
	return fn, flags, ok
}

// Asm reports whether pc is in a function of a Go program that is written in assembly: it may use all
// registers.
func (f *File) Asm(pc uint64) bool {
	_, flags, ok := f.goFunc(pc)
	return ok && flags&pcln.Assembly != 0
}

// Line returns the line of the source that the instruction at addr is of, in a program in Go.
//
// Context: any.
func (f *File) Line(addr uint64) (line string, ok bool) {
	fn, _, ok := f.goFunc(addr)
	if !ok {
		return "", false
	}
	file, number, ok := fn.Line(addr)
	return fmt.Sprintf("%s:%d", file, number), ok
}
