package entries

import (
	"encoding/binary"
	"fmt"
)

// Go's pclntab, as the runtime has it in symtab.go (pcHeader) and runtime2.go
// (_func), for 64-bit machines:
//
//	header   magic uint32; 0, 0, minLC, ptrSize uint8; nfunc uint64; ..; pclnOffset uint64 at 64
//	pcln     nfunc times: entry, offset of the _func from here uint32
//	_func    entry uint32; name int32; args int32; deferreturn uint32; ..
//
// Entries are relative to the start of the text, deferreturn to the entry.
const (
	pcMagic      = 0xfffffff1 // Go 1.20 and later
	pcNfunc      = 8
	pcPclnOffset = 64
	pcHeaderSize = 72
	funcEntry    = 0
	funcDefer    = 12
)

// Defers returns the addresses where functions go on after a panic that a
// deferred call of theirs has recovered from. text is where Go's text begins
// (runtime.text).
//
// Errors: ErrFormat: not a pclntab, or of a Go version with another layout.
func Defers(pclntab []byte, text uint64) ([]uint64, error) {
	if len(pclntab) < pcHeaderSize || binary.LittleEndian.Uint32(pclntab) != pcMagic || pclntab[7] != 8 {
		return nil, fmt.Errorf("entries: pclntab of %d bytes: unknown header: %w", len(pclntab), ErrFormat)
	}
	n := binary.LittleEndian.Uint64(pclntab[pcNfunc:])
	at := binary.LittleEndian.Uint64(pclntab[pcPclnOffset:])
	if at > uint64(len(pclntab)) || n > (uint64(len(pclntab))-at)/8 {
		return nil, fmt.Errorf("entries: pclntab: %d functions at %#x of %#x: %w", n, at, len(pclntab), ErrFormat)
	}
	pcln := pclntab[at:]
	var found []uint64
	for i := range n {
		off := uint64(binary.LittleEndian.Uint32(pcln[8*i+4:]))
		if off+funcDefer+4 > uint64(len(pcln)) {
			return nil, fmt.Errorf("entries: pclntab: function %d at %#x of %#x: %w", i, off, len(pcln), ErrFormat)
		}
		if d := binary.LittleEndian.Uint32(pcln[off+funcDefer:]); d != 0 {
			entry := binary.LittleEndian.Uint32(pcln[off+funcEntry:])
			found = append(found, text+uint64(entry)+uint64(d))
		}
	}
	return found, nil
}
