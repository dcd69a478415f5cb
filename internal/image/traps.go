package image

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"sonde/kallsyms"
	"sonde/kprobes/reach"
)

// ErrTrap says that code which runs in traps reaches what does not work there.
var ErrTrap = errors.New("trap code breaks its rules")

const (
	// trapEntry is in each kernel that has traps.
	trapEntry = "sonde/arch/amd64/trap.entry"
	// leanVar says that what checkTraps proves of hits need not be proved at each boot.
	leanVar = "sonde/kprobes.proved"
)

// checkTraps walks the calls of the kernel whose symbol table is encoded in table, and notes in the kernel
// whether hits leave X0-X14 alone. It takes some milliseconds.
//
// Errors: ErrTrap with each way that leads to what is forbidden.
func (f *elfFile) checkTraps(table []byte) error {
	if _, err := f.symbol(trapEntry); err != nil {
		return nil
	}
	code, text, err := f.section(".text")
	if err != nil {
		return err
	}
	syms, err := kallsyms.Load(table)
	if err != nil {
		return err
	}
	g := reach.New(syms, func(addr, n uint64) []byte {
		off := addr - text
		if off > uint64(len(code)) || n > uint64(len(code))-off {
			return nil
		}
		return code[off : off+n]
	})
	g.Word = f.word
	if wrong := g.Verify(); len(wrong) > 0 {
		return fmt.Errorf("%w:\n%w", ErrTrap, errors.Join(wrong...))
	}
	if _, err := f.symbol(leanVar); err != nil || g.HitKeepsSSE() != nil {
		return nil // the kernel looks itself, and says why
	}
	return f.patch(leanVar, 1, 1)
}

// word returns the word of the kernel's data at addr.
func (f *elfFile) word(addr uint64) (uint64, bool) {
	for _, p := range f.progs {
		if off := addr - p.Vaddr; p.Type == uint32(elf.PT_LOAD) && off < p.Filesz && p.Filesz-off >= 8 {
			return binary.LittleEndian.Uint64(f.data[p.Off+off:]), true
		}
	}
	return 0, false
}
