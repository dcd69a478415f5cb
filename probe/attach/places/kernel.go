package places

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"sonde/kallsyms"
	"sonde/kallsyms/pcln"
	"sonde/kernel/text"
	"sonde/probe/attach"
)

// Kernel is the running kernel. It is looked at when it is first needed.
//
// Errors: kallsyms.ErrNoTable, and those of finding the pclntab.
var Kernel = sync.OnceValues(func() (*Image, error) {
	syms := kallsyms.Kernel()
	if syms == nil {
		return nil, kallsyms.ErrNoTable
	}
	var at [4]uint64
	for i, name := range [...]string{"runtime.rodata", "runtime.pclntab", "go:func.*", "runtime.epclntab"} {
		s, err := syms.Addr(name)
		if err != nil {
			return nil, err
		}
		at[i] = s.Addr
	}
	rodata, data := at[0], memory(at[0], at[3])
	text0, err := syms.Addr("runtime.text")
	if err != nil {
		return nil, err
	}
	lines, err := pcln.Load(memory(at[1], at[2]), memory(at[2], at[3]), text0.Addr)
	if err != nil {
		return nil, err
	}
	return &Image{
		Symbols: syms, Lines: lines,
		Code: func(addr, n uint64) []byte { return text.Original(uintptr(addr), uintptr(n)) },
		Word: func(addr uint64) (uint64, bool) {
			off := addr - rodata
			if addr < rodata || off+8 > uint64(len(data)) {
				return 0, false
			}
			return binary.LittleEndian.Uint64(data[off:]), true
		},
	}, nil
})

// memory is what lies from begin to end.
// Safe because: these are the linker's marks in the read-only data of this image.
func memory(begin, end uint64) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&begin)), end-begin)
}

// Find is Image.Find on the running kernel. A place that needs no search needs no table.
func Find(s attach.Site) (Found, error) {
	if s.Kind == attach.Kernel && !s.Pattern() {
		return (*Image)(nil).Find(s)
	}
	im, err := Kernel()
	if err != nil {
		return Found{}, err
	}
	return im.Find(s)
}
